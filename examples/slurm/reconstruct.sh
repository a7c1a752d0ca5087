#!/bin/sh
# One volume on all nodes of a job; at the time limit the job goes back into the queue and goes on where it stopped.
#   sbatch examples/slurm/reconstruct.sh scan.toml volume.h5
# Slurm sends SIGTERM to the steps two minutes before the limit (--signal): lepus saves and ends with code 75, and the job asks
# to be queued again. What is finished lies beside the output, so that the next start needs the same command.
#SBATCH --job-name=lepus
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append

# A step that is told to end gets its signal from Slurm; this script must outlive it.
trap '' TERM
srun --mpi=pmix ${LEPUS:-lepus} reconstruct "$1" -o "$2" --threads "${SLURM_CPUS_PER_TASK:-1}"
code=$?
if [ $code -eq 75 ]; then
  echo "lepus: stopped before the end of the job, which goes back into the queue"
  scontrol requeue "$SLURM_JOB_ID"
  sleep 60 # until Slurm ends this job
fi
exit $code
