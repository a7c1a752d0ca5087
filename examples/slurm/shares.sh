#!/bin/sh
# The same without MPI: a job array in which each task makes its share of the volume, and whichever ends last completes it.
#   sbatch examples/slurm/shares.sh scan.toml volume.h5
#SBATCH --job-name=lepus-shares
#SBATCH --array=1-16
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00

exec ${LEPUS:-lepus} reconstruct "$1" -o "$2" --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --share "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
