#include <cstdio>
#include <cstring>
#include "measure.h"
#include "sharpness.h"
#include "noise.h"
#include "rtk_gate.h"
using namespace lepus; using namespace lepus::accuracy;
int main(int argc,char**argv){ ThreadPool t;
 if (argc>1 && !std::strcmp(argv[1],"extra")) { if(argc<3){
 auto g=measure_rtk_gate(t); std::printf("rtk mae %.5f psnr %.2f whole %.5f %.2f seen %.3f\n",g.mean_absolute_error,g.psnr,g.whole_mean_absolute_error,g.whole_psnr,g.seen);
 for(auto&c:sharpness_cases()){auto s=measure_sharpness(c,0,t); std::printf("%-30s err %.4f  n %zu  .1 %.3f/%.3f .25 %.3f/%.3f .5 %.3f/%.3f\n",c.name().c_str(),s.largest_error(),s.points.size(),s.at(.1),s.predicted_at(.1),s.at(.25),s.predicted_at(.25),s.at(.5),s.predicted_at(.5));}
 for (double b:{0.05,0.25}) std::printf("blur %g err %.4f\n",b,measure_sharpness({},b,t).largest_error());
}
 for(auto&c:noise_cases()){auto n=measure_noise(c,t); std::printf("%-30s %+.3f%% (stat %.2f%%)\n",c.name().c_str(),100*n.error(),100*n.statistical_error);}
 return 0;}
 for(auto&c:scan_cases()){ if(argc>1&&c.name().find(argv[1])==std::string::npos)continue; auto b=measure_ball(c,t); auto e=measure_ellipsoids(c,t);
 std::printf("%-32s ball mean %+.4f%% cup %+.4f%% whole %+.4f%% | integral %+.2e interior %.4f%% whole %.2f%% psnr %.2f\n",c.name().c_str(),100*b.mean_error,100*b.cupping,100*b.whole_error,e.integral_error,100*e.interior_rms,100*e.whole_error,e.mid_plane_psnr); std::fflush(stdout);} }
