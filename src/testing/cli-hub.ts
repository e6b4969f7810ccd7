/** A hub's API in memory with a terminal that remembers, for tests of commands. */
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { createClient } from '../client/create-client.ts'
import { createRest } from '../client/rest.ts'
import { explainError } from '../cli/explain-error.ts'
import { formatTrouble } from '../cli/exit.ts'
import { createTerminal } from '../cli/terminal.ts'
import { silentLogger } from '../core/log.ts'
import { systemClock } from '../core/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import { composeApi } from '../hub/compose-api.ts'
import { inProcess } from '../hub/compose.ts'
import { HUB_USERS } from '../hub/ports.ts'
import { createMemoryStore } from '../store/memory-store.ts'

/** Starts it; it ends with the test. */
export function createCliHub(t: { after(fn: () => Promise<void>): void }) {
  const blobs = createMemoryBlobs()
  const api = composeApi({ store: createMemoryStore(), blobs, clock: systemClock, ids: systemIds, log: silentLogger })
  t.after(() => api.close())
  const transport = inProcess(api.handle, HUB_USERS.admin)
  const said = { out: '', err: '' }
  const terminal = createTerminal({
    stdout: { write: (text) => (said.out += text), isTTY: false },
    stderr: { write: (text) => (said.err += text), isTTY: false },
    stdinIsTTY: false,
    environment: { isUtf8: true, color: undefined },
    color: 'never',
  })
  const rest = createRest({ transport, clock: systemClock })
  return {
    blobs,
    client: createClient({ transport, clock: systemClock }),
    connection: { rest, server: 'memory', kubeconfig: 'none', namespace: undefined, close: async () => {} },
    terminal,
    /** What was printed since the last time. */
    taken: () => {
      const text = { ...said }
      said.out = said.err = ''
      return text
    },
  }
}

/** What a person reads when a command fails; empty when it does not. */
export async function troubleOf(running: Promise<unknown>): Promise<string> {
  try {
    await running
    return ''
  } catch (caught) {
    return formatTrouble(explainError(caught, {}).trouble)
  }
}
