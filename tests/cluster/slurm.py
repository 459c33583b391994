"""A real Slurm with two nodes on this machine, for as long as a `with` block lasts. Needs root and Debian's slurm-wlm and munge."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

NODES = {"n1": 17101, "n2": 17102}


def missing():
    """Why there can be no cluster here; None if there can be."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    if not all(map(shutil.which, ("slurmctld", "slurmd", "munged"))):
        return "slurm-wlm and munge are not installed (apt-get install slurm-wlm munge)"
    return None


def process_environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def parent_of(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


class Cluster:
    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="evenkeel-slurm-"))
        self.daemons = {}
        key = Path("/etc/munge/munge.key")
        if not key.exists():
            key.write_bytes(os.urandom(1024))
            shutil.chown(key, "munge")
            key.chmod(0o400)
        if subprocess.run(["munge", "-n"], capture_output=True).returncode != 0:
            Path("/run/munge").mkdir(exist_ok=True)
            shutil.chown("/run/munge", "munge")
            subprocess.run(["runuser", "-u", "munge", "--", "munged"], check=True)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(self.configuration())
        os.environ["SLURM_CONF"] = str(configuration)
        self.daemons["controller"] = self.start("slurmctld", "-D", "-f", configuration)
        time.sleep(1)
        for node in NODES:
            self.raise_node(node)
        for _ in range(60):
            idle = subprocess.run(["sinfo", "-h", "-N", "-t", "idle"], capture_output=True, text=True).stdout
            if len(idle.splitlines()) == len(NODES):
                return self
            time.sleep(0.5)
        log = (self.folder / "slurmctld.log").read_text()[-2000:]
        self.__exit__()
        raise RuntimeError(f"the nodes did not come up: {log}")

    def configuration(self):
        host, folder = socket.gethostname().split(".")[0], self.folder
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=2000 State=UNKNOWN"
            for node, port in NODES.items()
        )
        # A node that is silent for 15 seconds is down and its jobs are queued again; one that comes back is used.
        return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17100
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=15
KillWait=10
JobRequeue=1
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
"""

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.out", "ab")
        return subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, start_new_session=True)

    def raise_node(self, node):
        (self.folder / node).mkdir(exist_ok=True)
        self.daemons[node] = self.start("slurmd", "-D", "-f", self.folder / "slurm.conf", "-N", node)

    def cut_power(self, node):
        """Ends a node and all processes of its jobs at once."""
        self.daemons[node].kill()
        self.daemons[node].wait()
        mark = f"SLURMD_NODENAME={node}".encode()
        jobs = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and mark in process_environment(entry)]
        steps = {parent_of(job) for job in jobs}
        steps = {step for step in steps if step > 1 and "slurmstepd" in Path(f"/proc/{step}/comm").read_text()}
        for process in [*steps, *jobs]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return len(jobs)

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user=root"], capture_output=True)
        time.sleep(1)
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
