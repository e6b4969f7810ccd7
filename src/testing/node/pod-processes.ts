/** The processes of pods in a sandbox, and the connections that they have. */
import { readdirSync, readFileSync } from 'node:fs'

/** A process of a container, by its number outside the sandbox. */
export interface PodProcess {
  readonly pid: number
  readonly command: string
  readonly environment: string
}

/** TCP connections that were seen over time: ports that were listened on, and pairs of local and remote port. */
export interface SeenConnections {
  readonly listening: Set<number>
  readonly pairs: Set<string>
}

/** The processes of containers below the cgroup of a sandbox. */
export function podProcesses(sandbox: string): PodProcess[] {
  const found: PodProcess[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/${sandbox}/kubepods`)) continue
      const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ')
      found.push({ pid: Number(pid), command: read('cmdline'), environment: read('environ') })
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

const LISTEN = '0A'
const LOOPBACK = /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/

/** Adds the TCP connections that the network of a process has now, apart from those with itself. */
export function addConnections(seen: SeenConnections, pid: number): void {
  const sockets = ['tcp', 'tcp6'].flatMap((file) => {
    try {
      const [, ...lines] = readFileSync(`/proc/${pid}/net/${file}`, 'utf8').trim().split('\n')
      return lines.map((line) => line.trim().split(/\s+/).slice(1, 4) as [string, string, string])
    } catch {
      return []
    }
  })
  const portOf = (address: string): number => Number.parseInt(address.split(':')[1]!, 16)
  for (const [local, remote, state] of sockets) {
    if (state === LISTEN) seen.listening.add(portOf(local))
    else if (!LOOPBACK.test(remote.split(':')[0]!)) seen.pairs.add(`${portOf(local)} ${portOf(remote)}`)
  }
}

/**
 * The ports that others connected to, and those that were connected to. A connection outlives the listener of a process
 * that was killed, so that all listeners that were ever seen count.
 */
export function portsOf({ listening, pairs }: SeenConnections): {
  readonly incoming: readonly number[]
  readonly outgoing: readonly number[]
} {
  const [incoming, outgoing] = [new Set<number>(), new Set<number>()]
  for (const pair of pairs) {
    const [local, remote] = pair.split(' ').map(Number) as [number, number]
    if (listening.has(local)) incoming.add(local)
    else outgoing.add(remote)
  }
  const sorted = (ports: ReadonlySet<number>): number[] => [...ports].toSorted((a, b) => a - b)
  return { incoming: sorted(incoming), outgoing: sorted(outgoing) }
}
