// SPDX-License-Identifier: Apache-2.0
#include "view/server.h"

#include "io/file.h"

#ifndef LEPUS_HAVE_VIEW

namespace lepus::view {

struct Server::State {};
Server::Server(Viewer&, const ServerOptions&) {
  throw_missing_library("lepus view", "libcpp-httplib-dev", "this build of lepus");
}
Server::~Server() = default;
std::string Server::address() const { return {}; }
int Server::port() const { return 0; }
void Server::start() {}
void Server::stop() {}

}  // namespace lepus::view

#else

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <httplib.h>

#include "core/format.h"
#include "view/guard.h"
#include "view/page.h"
#include <lepus/error.h>

namespace lepus::view {
namespace {

constexpr int first_port = 8790, last_port = 8889;
// A connection has a thread as long as it is open, most of the time asleep; more wait until one is free.
constexpr std::size_t connections = 128;
constexpr int listeners_at_most = 48;
constexpr std::size_t largest_body = std::size_t{4} << 20;

Visitor visitor_of(const httplib::Request& request) {
  const auto header = [&](const char* name) { return request.get_header_value(name); };
  return {request.method,          header("Host"),   header("Origin"),       header("Sec-Fetch-Site"),
          header("Authorization"), header("Cookie"), header("Content-Type"), request.get_param_value("token")};
}

// Whoever asks for a part of an answer gets the whole one, which HTTP allows: the library takes the part that is asked
// for as it is, also where it lies beyond the answer's end. It has no other way to say so; the object is its own.
void forget_ranges(const httplib::Request& request) { const_cast<httplib::Request&>(request).ranges.clear(); }

Request request_of(const httplib::Request& request) {
  Request own{request.method == "HEAD" ? "GET" : request.method, request.path, {}, request.body};
  own.parameters.insert(request.params.begin(), request.params.end());
  return own;
}

void send(std::shared_ptr<Answer> answer, httplib::Response& response) {
  response.status = answer->status;
  for (const auto& [name, value] : answer->headers) response.set_header(name, value);
  const bool file = answer->file_bytes >= 0;
  const auto length = file ? static_cast<std::size_t>(answer->file_bytes) : answer->body.size();
  if (length == 0) return response.set_content("", answer->type);
  const std::string type = answer->type;
  // A provider, and no body of the response's own: that would be copied, and packed for text.
  response.set_content_provider(
      length, type,
      [answer = std::move(answer), file, length](std::size_t offset, std::size_t bytes, httplib::DataSink& sink) {
        if (offset >= length) return false;
        bytes = std::min({bytes, length - offset, std::size_t{1} << 18});
        if (!file) return sink.write(answer->body.data() + offset, bytes);
        std::string piece(bytes, '\0');
        try {
          answer->read_file(static_cast<std::int64_t>(offset), piece.data(), static_cast<std::int64_t>(bytes));
        } catch (const Error&) {
          return false;  // the connection ends before the file does, which the other side sees
        }
        return sink.write(piece.data(), bytes);
      });
}

// Only what the system's own rule of SO_REUSEADDR allows; the library's default lets two servers share a port.
void one_server_per_port(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct Server::State {
  explicit State(Viewer& the_viewer) : viewer(the_viewer) {}

  Viewer& viewer;
  ServerOptions options;
  Guard guard;
  httplib::Server http;
  std::thread thread;
  std::atomic<bool> stopping{false};

  void bind();
  void answer_get(const httplib::Request& request, httplib::Response& response);
  void stream_events(httplib::Response& response);
};

void Server::State::bind() {
  if (options.port != 0) {
    if (http.bind_to_port(options.address, options.port)) {
      guard.port = options.port;
      return;
    }
    throw Error(ErrorKind::usage, {.what = format("cannot listen on port {}", options.port),
                                   .where = options.address,
                                   .why = "another program has it, or the address is not one of this machine",
                                   .hint = "give another --port, or none: lepus finds a free one"});
  }
  for (int port = first_port; port <= last_port; ++port)
    if (http.bind_to_port(options.address, port)) {
      guard.port = port;
      return;
    }
  throw Error(ErrorKind::usage,
              {.what = "no free port was found",
               .where = options.address,
               .why = format("{} to {} are taken, or the address is not one of this machine", first_port, last_port),
               .hint = "give one with --port"});
}

void Server::State::stream_events(httplib::Response& response) {
  Events& events = viewer.events();
  if (events.listeners() >= listeners_at_most) {
    return send(std::make_shared<Answer>(answer_of_error(Refusal(
                    503, {.what = "too many pages are open", .where = {}, .why = {}, .hint = "close some of them"}))),
                response);
  }
  events.joined();
  auto place = std::make_shared<std::uint64_t>(events.now());
  auto first = std::make_shared<bool>(true);
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, &events, place, first](std::size_t, httplib::DataSink& sink) {
        if (std::exchange(*first, false)) {
          const std::string hello = "retry: 1000\nevent: session\ndata: {}\n\n";
          return sink.write(hello.data(), hello.size());
        }
        // Half a second at a time: so long does it take to see that the page was closed.
        const std::string text = events.next(*place, std::chrono::milliseconds(500));
        if (!text.empty() && !sink.write(text.data(), text.size())) return false;
        if (stopping) {
          sink.done();
          return true;
        }
        return sink.is_writable();
      },
      [&events](bool) { events.left(); });
}

void Server::State::answer_get(const httplib::Request& request, httplib::Response& response) {
  if (request.path == "/api/events") return stream_events(response);
  if (const auto file = page_file(request.path)) {
    auto answer = std::make_shared<Answer>();
    answer->type = file->type;
    answer->body = std::string(file->bytes);
    if (brings_token(guard, visitor_of(request))) answer->headers.emplace_back("Set-Cookie", token_cookie(guard));
    return send(std::move(answer), response);
  }
  send(std::make_shared<Answer>(viewer.answer(request_of(request))), response);
}

Server::Server(Viewer& viewer, const ServerOptions& options) : state_(std::make_unique<State>(viewer)) {
  State& s = *state_;
  s.options = options;
  if (options.open_to_others) {
    s.guard.token = new_token();
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) s.guard.names = {name, std::string(name) + ".local"};
    s.guard.names.push_back(options.address);
    for (std::string& known : s.guard.names) known = lower_case(known);
  }
  httplib::Server& http = s.http;
  http.new_task_queue = [] { return new httplib::ThreadPool(connections); };
  http.set_socket_options(one_server_per_port);
  http.set_tcp_nodelay(true);
  http.set_keep_alive_max_count(1'000'000);
  http.set_keep_alive_timeout(2);  // so long may a stop take that finds an idle connection
  http.set_read_timeout(10);
  http.set_write_timeout(30);
  http.set_payload_max_length(largest_body);
  httplib::Headers headers;
  for (const auto& [name, value] : safety_headers()) headers.emplace(name, value);
  headers.emplace("Accept-Ranges", "none");
  http.set_default_headers(headers);
  http.set_pre_routing_handler([&s](const httplib::Request& request, httplib::Response& response) {
    forget_ranges(request);
    if (auto no = refused(s.guard, visitor_of(request))) {
      send(std::make_shared<Answer>(std::move(*no)), response);
    } else if (request.method == "POST") {
      return httplib::Server::HandlerResponse::Unhandled;  // its body is still to be read
    } else {
      s.answer_get(request, response);
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  http.Post(R"(/api/scan/[a-z]{1,16})", [&s](const httplib::Request& request, httplib::Response& response) {
    send(std::make_shared<Answer>(s.viewer.answer(request_of(request))), response);
  });
  // What the library itself refuses: requests that are none, too long, or for nothing that is there.
  http.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    forget_ranges(request);
    if (response.has_header("Content-Type") || response.has_header("Content-Length")) return;
    const Answer answer = answer_of_error(Refusal(response.status, {.what = "this request cannot be answered",
                                                                    .where = {},
                                                                    .why = format("HTTP status {}", response.status),
                                                                    .hint = "docs/view-protocol.md has all requests"}));
    response.set_content(answer.body, answer.type);
  });
  s.bind();
}

Server::~Server() { stop(); }

std::string Server::address() const {
  const Guard& guard = state_->guard;
  std::string host = state_->options.address;
  if (host == "0.0.0.0" || host == "::") host = guard.names.empty() ? "localhost" : guard.names.front();
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return format("http://{}:{}/{}", host, guard.port, guard.token.empty() ? "" : "?token=" + guard.token);
}

int Server::port() const { return state_->guard.port; }

void Server::start() {
  state_->thread = std::thread([this] { state_->http.listen_after_bind(); });
  // A stop that comes before it listens would be lost.
  for (int waited = 0; !state_->http.is_running() && waited < 5000; ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Server::stop() {
  if (!state_->thread.joinable()) return;
  state_->viewer.events().publish("closing", "{}");
  state_->stopping = true;
  state_->http.stop();
  state_->thread.join();
}

}  // namespace lepus::view

#endif
