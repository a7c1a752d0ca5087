// SPDX-License-Identifier: Apache-2.0
// The viewer on the network (cpp-httplib): connections, the guard, the page, events; everything else is the Viewer's.
#pragma once

#include <memory>
#include <string>

#include "view/viewer.h"

namespace lepus::view {

struct ServerOptions {
  std::string address = "127.0.0.1";  // to listen on
  int port = 0;                       // 0: the first free one from 8790 on
  bool open_to_others = false;        // --listen: a token is needed
};

class Server {
public:
  // Binds the port. Throws Error(usage) where it is taken or the address is not this machine's, Error(unsupported)
  // where this build has no server.
  Server(Viewer& viewer, const ServerOptions& options);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address() const;  // "http://127.0.0.1:8790/", with the token where one is needed
  int port() const;
  void start();  // in threads of its own
  void stop();   // says "closing" to all who listen, and ends

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lepus::view
