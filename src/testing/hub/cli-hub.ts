/** A hub's API in memory with a terminal that remembers, for tests of commands. */
import assert from 'node:assert/strict'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import { createRest } from '../../client/rest.ts'
import { explainError } from '../../cli/errors/explain-error.ts'
import { formatErrorReport } from '../../cli/errors/cli-error.ts'
import { createTerminal } from '../../cli/print/terminal.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { composeApi } from '../../hub/compose/compose-api.ts'
import { inProcessTransport } from '../../hub/compose/in-process-transport.ts'
import type { DialectName } from '../../hub/home/dialect-names.ts'
import { HUB_USERS } from '../../hub/ports.ts'
import { createMemoryStore } from '../../store/memory-store.ts'

/** How the person sits there. */
export interface CliHubOptions {
  /** At a terminal, where questions can be asked. */
  readonly tty?: boolean
  /** The namespace of the kubeconfig. */
  readonly namespace?: string
  /** Dialects whose workload kinds are served besides. */
  readonly dialects?: readonly DialectName[]
}

/** Starts it; it ends with the test. */
export function createCliHub(
  t: { after(fn: () => Promise<void>): void },
  { tty: isTTY = false, namespace, dialects = [] }: CliHubOptions = {},
) {
  const blobs = createMemoryBlobs()
  const ports = { clock: systemClock, ids: systemIds, log: silentLogger }
  const api = composeApi({ ...ports, store: createMemoryStore(), blobs, dialects })
  t.after(() => api.close())
  const transport = inProcessTransport(api.handle, HUB_USERS.admin)
  const said = { out: '', err: '' }
  const terminal = createTerminal({
    stdout: { write: (text) => (said.out += text), isTTY },
    stderr: { write: (text) => (said.err += text), isTTY },
    stdinIsTTY: isTTY,
    environment: { isUtf8: true, color: undefined, program: 'flotilla' },
    color: 'never',
  })
  const rest = createRest({ transport, clock: systemClock })
  const connection = { rest, server: 'memory', kubeconfig: 'none', namespace, close: async () => {} }
  return {
    blobs,
    client: createClient({ transport, clock: systemClock }),
    connection,
    /** The connection of a user without rights of their own; bind them a role first. */
    connectionOf: (commonName: string) => ({
      ...connection,
      rest: createRest({
        transport: inProcessTransport(api.handle, { commonName, organizations: [] }),
        clock: systemClock,
      }),
    }),
    terminal,
    /** All that was printed and not taken. */
    said,
    /** What was printed since the last time. */
    taken: () => {
      const text = { ...said }
      said.out = said.err = ''
      return text
    },
  }
}

/** How a command that must fail ends, and what a person reads of it, part by part. */
export async function expectErrorReport(running: Promise<unknown>) {
  const caught = await running.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  )
  const { exitCode, report } = explainError(caught)
  return { exitCode, ...report }
}

/** The same as the lines of the terminal. */
export async function expectErrorText(running: Promise<unknown>): Promise<string> {
  return formatErrorReport(await expectErrorReport(running))
}
