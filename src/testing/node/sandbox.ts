/**
 * A machine of its own for a node of a test: mount, network, process, cgroup, IPC and host name namespaces in which
 * nothing of the real machine is changed. One kill ends everything in it. Needs root on Linux with cgroup v1.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from '../control-plane/etcd.ts'
import { type Server, servers } from '../control-plane/server-processes.ts'
import { debianPartsDir } from '../testenv.ts'

/** A machine whose servers have addresses of their own. */
export interface Sandbox extends Machine {
  readonly name: string
  /** The process that ends the sandbox when it ends, seen from outside. */
  readonly pid: number
  /** The addresses of its pods. */
  readonly podNetwork: string
  /** Starts a program that shares all namespaces, for example a kubelet. It ends with the sandbox. */
  startInside(name: string, command: string, args: readonly string[]): Server
  /** Runs a program in the network of the sandbox to its end. */
  run(command: string, args: readonly string[]): string
  stop(): Promise<void>
}

const CGROUPS = '/sys/fs/cgroup'
const PREFIX = 'flotilla-node-'
const READY_MS = 60_000

/** What this machine lacks for a sandbox. */
export function missingForSandbox(): string[] {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return ['root on Linux']
  return existsSync(join(CGROUPS, 'memory/tasks')) ? [] : ['cgroup v1']
}

/** Process 1: a shell, because it takes care of orphans. It is given a name, the address of the node and a folder. */
const INIT = `
set -e
read pid rest < /proc/self/stat; echo $pid > "$3/pid"
v1=$(awk '$3 == "cgroup" {print $2}' /proc/self/mounts)
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /sys/fs/cgroup
for m in $v1; do c=\${m##*/}; [ $c != systemd ] || c=none,name=systemd; mkdir $m; mount -t cgroup -o $c cgroup $m; mkdir $m/$1; done
for f in cpus mems; do cat /sys/fs/cgroup/cpuset/cpuset.$f > /sys/fs/cgroup/cpuset/$1/cpuset.$f; done
mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var; mkdir /var/lib /var/log /var/tmp; ln -s /run /var/run
echo "nameserver $2" > /run/resolv.conf; mount --bind /run/resolv.conf /etc/resolv.conf
# A kubelet sets these for the whole machine otherwise.
for s in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  f=/run/sysctl-$(echo \${s%=*} | tr / -); echo \${s#*=} > $f; mount --bind $f /proc/sys/\${s%=*}; done
ip link set lo up; ip link add cni0 type bridge; ip addr add $2/24 dev cni0; ip link set cni0 up; ip route add 10.96.0.0/16 dev cni0
echo 1 > /proc/sys/net/ipv4/ip_forward; hostname $1; echo ready > "$3/ready"
while :; do sleep 3600 & wait; done
`

let next = 0

/** Starts a sandbox; `index` divides the addresses of sandboxes that are connected. */
export async function startSandbox(index: number): Promise<Sandbox> {
  sweep()
  const name = `${PREFIX}${process.pid}-${next++}`
  const dir = join(servers().dir, name)
  mkdirSync(dir)
  const address = `10.88.${index}.1`
  // One network for each test process, four addresses for each sandbox.
  const network = process.pid % 250
  const [gate, outside] = [`10.213.${network}.${4 * index + 1}`, `10.213.${network}.${4 * index + 2}`]
  const flags = ['--mount', '--net', '--pid', '--cgroup', '--ipc', '--uts', '--fork', '--kill-child=KILL']
  const begin = ['--pdeathsig', 'KILL', 'unshare', ...flags, '--propagation', 'private']
  const root = servers().start(name, 'setpriv', [...begin, 'sh', '-c', INIT, 'sh', name, address, dir])
  const until = performance.now() + READY_MS
  while (!existsSync(join(dir, 'ready'))) {
    if (!root.alive() || performance.now() > until) throw new Error(`${name} did not start:\n${root.log()}`)
    await sleep(50)
  }
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
  const link = `fl${process.pid}-${index}`
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'up0', 'netns', String(pid))
  ip('addr', 'add', `${gate}/30`, 'dev', link)
  ip('link', 'set', link, 'up')
  const within = (command: string, args: readonly string[]): [string, string[]] => [
    'nsenter',
    [`--net=/proc/${pid}/ns/net`, '--', 'env', ...environment(), command, ...args],
  ]
  const run = (command: string, args: readonly string[]): string =>
    execFileSync(...within(command, args), { encoding: 'utf8' })
  run('ip', ['addr', 'add', `${outside}/30`, 'dev', 'up0'])
  run('ip', ['link', 'set', 'up0', 'up'])
  const stop = async (): Promise<void> => {
    await root.kill()
    while (existsSync(`/proc/${pid}`)) await sleep(50)
    removeCgroups(name)
  }
  return {
    name,
    pid,
    dir,
    address,
    outside,
    podNetwork: `10.88.${index}.0/24`,
    port: (wanted) => Promise.resolve(wanted),
    start: (what, command, args) => servers().start(`${name}-${what}`, ...within(command, args)),
    startInside(what, command, args) {
      const all = ['-t', String(pid), '-m', '-n', '-p', '-C', '-i', '-u', `--wdns=${dir}`]
      return servers().start(`${name}-${what}`, 'nsenter', [...all, '--', 'env', ...environment(), command, ...args])
    },
    run,
    stop,
  }
}

/** Connects two sandboxes, so that each reaches the nodes, pods and outside address of the other. */
export function connect(one: Sandbox, other: Sandbox): void {
  const link = ['link', 'add', 'l0', 'netns', String(one.pid), 'type', 'veth', 'peer', 'name', 'l0']
  ip(...link, 'netns', String(other.pid))
  for (const [here, there, at, via] of [
    [one, other, '10.99.0.1', '10.99.0.2'],
    [other, one, '10.99.0.2', '10.99.0.1'],
  ] as const) {
    here.run('ip', ['addr', 'add', `${at}/30`, 'dev', 'l0'])
    here.run('ip', ['link', 'set', 'l0', 'up'])
    for (const network of [there.podNetwork, `${there.outside}/32`])
      here.run('ip', ['route', 'add', network, 'via', via])
  }
}

/** Programs of the unpacked Debian packages with their libraries. */
function environment(): string[] {
  const parts = debianPartsDir()
  const programs = ['usr/sbin', 'usr/bin', 'sbin', 'bin'].map((folder) => join(parts, folder))
  const libraries = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((folder) => join(parts, folder))
  return [`PATH=${[...programs, process.env['PATH']].join(':')}`, `LD_LIBRARY_PATH=${libraries.join(':')}`]
}

function ip(...args: string[]): void {
  execFileSync('ip', args)
}

/** What a killed test process left: the cgroups of sandboxes whose process is gone. */
function sweep(): void {
  for (const path of globSync(`${CGROUPS}/memory/**/${PREFIX}*`)) {
    const [, name, pid] = /(flotilla-node-(\d+)-\d+)$/.exec(path) ?? []
    if (name !== undefined && !existsSync(`/proc/${pid}`)) removeCgroups(name)
  }
}

function removeCgroups(name: string): void {
  for (const top of globSync(`${CGROUPS}/*/**/${name}`)) removeFolder(top)
}

/** Folders of a cgroup hierarchy can be removed, their files cannot. */
function removeFolder(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeFolder(join(path, entry.name))
  }
  try {
    rmdirSync(path)
  } catch {
    // A process of the sandbox is still ending: the next start sweeps again.
  }
}
