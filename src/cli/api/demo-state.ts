/** The state file of a running demo: other commands use the demo without flags. */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject } from '../../core/json.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { CliEnvironment } from '../config.ts'
import type { Terminal } from '../print/terminal.ts'

/** A running demo. */
export interface DemoState {
  readonly pid: number
  readonly kubeconfig: string
  /** Socket that accepts situations. */
  readonly door: string
}

/** The running demo. The file of a demo that was killed is ignored. */
export async function readDemoState(file: string): Promise<DemoState | undefined> {
  try {
    const state: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isObject(state)) return undefined
    const { pid, kubeconfig, door } = state
    if (typeof pid !== 'number' || typeof kubeconfig !== 'string' || typeof door !== 'string') return undefined
    return isAlive(pid) ? { pid, kubeconfig, door } : undefined
  } catch {
    return undefined
  }
}

/** The state file of a demo: the function that removes the file, or the demo whose file was left as it is. */
export type DemoAnnouncement = { readonly forget: () => Promise<void> } | { readonly other: DemoState }

/** Writes the state file, unless another running demo has one: other commands go on with the first demo. */
export async function writeDemoState(file: string, state: DemoState): Promise<DemoAnnouncement> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const other = await readDemoState(file)
  if (other && other.pid !== state.pid) return { other }
  await writeFile(file, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  const forget = async (): Promise<void> => {
    // The file of a demo that was killed is replaced by the next demo.
    if ((await readDemoState(file))?.pid !== state.pid) return
    await rm(file, { force: true })
    await rm(join(dirname(file), ANNOUNCED_FILE), { force: true })
  }
  return { forget }
}

/** The process whose demo was announced last; the demo removes the file with its state. */
const ANNOUNCED_FILE = 'demo-announced'

/** An announcement counts as known for this long. */
const ANNOUNCED_MS = 3_600_000

/** Prints which demo a command uses, once an hour for each demo. */
export async function announceDemo(
  { pid, kubeconfig }: DemoState,
  { stateFolder }: Pick<CliEnvironment, 'stateFolder'>,
  terminal: Pick<Terminal, 'say'>,
): Promise<void> {
  const file = join(stateFolder, ANNOUNCED_FILE)
  const known = await readFile(file, 'utf8').catch(() => '')
  const writtenMs = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
  if (known === String(pid) && systemClock.now() - writtenMs < ANNOUNCED_MS) return
  terminal.say(`using the demo of process ${pid} (${kubeconfig})`)
  // A state folder that cannot be written only repeats the announcement.
  await writeFile(file, String(pid), { mode: 0o600 }).catch(() => {})
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (caught) {
    return caught instanceof Error && 'code' in caught && caught.code === 'EPERM'
  }
}
