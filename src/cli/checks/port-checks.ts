/** Checks whether the addresses that a hub listens on by default are free on this machine. */
import type { Check } from './check.ts'

/** A listener of a hub: its flag and its address. */
export interface HubListener {
  readonly flag: string
  readonly host: string
  readonly port: number
}

/** The defaults of `flotilla hub run`; a test compares. */
export const DEFAULT_LISTENERS: readonly HubListener[] = [
  { flag: '--listen', host: '127.0.0.1', port: 7443 },
  { flag: '--gateway-listen', host: '0.0.0.0', port: 7444 },
  { flag: '--console-listen', host: '127.0.0.1', port: 7480 },
]

/** One check for all listeners. A port that is in use is a warning: the hub of this machine may use it. */
export async function portsCheck(listeners: readonly HubListener[] = DEFAULT_LISTENERS): Promise<Check> {
  const id = 'ports'
  const { portProblem } = await import('../../hub/http/free-port.ts')
  const problems: string[] = []
  for (const { flag, host, port } of listeners) {
    const problem = await portProblem(host, port)
    if (problem !== undefined) problems.push(`${host}:${port} (${flag}): ${problem}`)
  }
  const ports = listeners.map(({ port }) => port).join(', ')
  if (problems.length === 0) return { id, result: 'ok', text: `a hub can listen on the ports ${ports}` }
  return { id, result: 'warning', text: `a hub cannot listen on ${problems.join('; ')}` }
}
