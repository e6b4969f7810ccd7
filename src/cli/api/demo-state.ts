/** Where a running demo says how to reach it, so that other commands need no flags. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isObject } from '../../core/json.ts'

/** A running demo. */
export interface DemoState {
  readonly pid: number
  readonly kubeconfig: string
  /** The socket where situations are asked for. */
  readonly door: string
}

/** The demo that runs now, if one does; what a killed one left behind is ignored. */
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

/** Says how to reach this demo; returns what takes it back. */
export async function writeDemoState(file: string, state: DemoState): Promise<() => Promise<void>> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  return async () => {
    // A second demo may have taken the place meanwhile; its word stays.
    if ((await readDemoState(file))?.pid === state.pid) await rm(file, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (caught) {
    return caught instanceof Error && 'code' in caught && caught.code === 'EPERM'
  }
}
