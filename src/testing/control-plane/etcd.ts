/** Etcd for control planes of tests: one member, or several that can be killed one at a time. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { needBinary } from '../testenv.ts'
import type { Server } from './server-processes.ts'

/** Where servers run: on this machine, or in a sandbox with addresses of its own. */
export interface Machine {
  /** The address that servers on the machine listen on, besides loopback. */
  readonly address: string
  /** The address by which the test process reaches it. */
  readonly outside: string
  readonly dir: string
  port(wanted: number): Promise<number>
  start(name: string, command: string, args: readonly string[]): Server
}

/** A member of etcd. */
export interface EtcdMember {
  readonly name: string
  readonly dir: string
  server(): Server
  /** Ends it at once. */
  kill(): Promise<void>
  /** Starts it on the same directory and ports. */
  start(): Promise<void>
  /** Whether it is the leader. */
  leads(): Promise<boolean>
}

/** The members, and what `--etcd-servers` names. */
export interface Etcd {
  readonly url: string
  readonly members: readonly EtcdMember[]
}

const READY_MS = 90_000
const FIRST_PORT = 2379

/** Starts members that form one cluster, and waits until each answers. */
export async function startEtcd(
  machine: Machine,
  { members: count = 1, durable = false }: { readonly members?: number; readonly durable?: boolean },
): Promise<Etcd> {
  const planned = []
  for (let n = 0; n < count; n++) {
    const client = await machine.port(FIRST_PORT + 10 * n)
    const peer = await machine.port(FIRST_PORT + 10 * n + 1)
    const name = count === 1 ? 'default' : `member-${n}`
    planned.push({ name, client, peerUrl: `http://127.0.0.1:${peer}` })
  }
  const cluster = planned.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')
  const members = planned.map(({ name, client, peerUrl }): EtcdMember => {
    const url = `http://127.0.0.1:${client}`
    const dir = join(machine.dir, `etcd-${client}`)
    // The test process asks from outside; servers of the machine by loopback.
    const outside = `http://${machine.outside}:${client}`
    let server: Server
    return {
      name,
      dir,
      server: () => server,
      kill: () => server.kill(),
      leads: async () => {
        const metrics = await (await fetch(`${outside}/metrics`)).text()
        return /^etcd_server_is_leader 1$/m.test(metrics)
      },
      async start() {
        server = machine.start('etcd', needBinary('etcd'), [
          `--name=${name}`,
          `--data-dir=${dir}`,
          `--listen-client-urls=${[...new Set([url, outside])].join(',')}`,
          `--advertise-client-urls=${url}`,
          `--listen-peer-urls=${peerUrl}`,
          `--initial-advertise-peer-urls=${peerUrl}`,
          `--initial-cluster=${cluster}`,
          ...(durable ? [] : ['--unsafe-no-fsync']), // the data is gone with the test anyway
          '--log-level=warn',
        ])
        await becomeReady([server], async () => (await fetch(`${outside}/health`)).ok)
      },
    }
  })
  await Promise.all(members.map((member) => member.start()))
  return { url: planned.map(({ client }) => `http://127.0.0.1:${client}`).join(','), members }
}

/**
 * Asks until the answer is yes; a server that ended, or too long a wait, is an error with what the servers wrote last.
 */
export async function becomeReady(started: readonly Server[], isReady: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + READY_MS
  for (;;) {
    if (await isReady().catch(() => false)) return
    const dead = started.find((server) => !server.alive())
    if (dead !== undefined) throw new Error(`${dead.name} ended while starting:\n${dead.log()}`)
    if (performance.now() > until) {
      const logs = started.map((server) => `${server.name}:\n${server.log()}`)
      throw new Error(`not ready after ${READY_MS / 1000} s\n${logs.join('\n')}`)
    }
    await sleep(50)
  }
}
