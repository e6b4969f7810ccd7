/** Renders in the main thread within a budget. A chart that exceeds the budget is given up. */
import { Script } from 'node:vm'
import { systemClock } from '../../core/time/system-clock.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { CliError } from '../errors/cli-error.ts'
import { renderRequest, reportableError } from './render-request.ts'
import type { TemplateAnswer, TemplateRequest } from './template-request.ts'

export interface QuickBudget {
  readonly timeMs: number
  readonly memoryMiB: number
}

/** The result of a render with its warnings. */
export type QuickOutcome = { readonly warnings: readonly string[] } & (
  | { readonly answer: TemplateAnswer }
  | { readonly error: HelmError | CliError; readonly text: string }
)

/** Allocations between two checks of the memory. */
const LOOK_EVERY_MS = 20
const MIB = 1024 * 1024

/** Renders, or returns undefined if the chart exceeds the budget. */
export function renderQuickly(request: TemplateRequest, budget: QuickBudget): QuickOutcome | 'too much' {
  const warnings: string[] = []
  let lookedAt = systemClock.monotonicMs()
  let full = false
  const watch = (): 'go on' | 'stop' => {
    const now = systemClock.monotonicMs()
    if (now - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = now
      const { heapUsed, external } = process.memoryUsage()
      full = heapUsed + external > budget.memoryMiB * MIB
    }
    return full ? 'stop' : 'go on'
  }
  try {
    const answer = withinTime(budget.timeMs, () =>
      renderRequest(request, { warn: (text) => void warnings.push(text), watch }),
    )
    return answer === 'late' ? 'too much' : { warnings, answer }
  } catch (error) {
    if (full) return 'too much'
    if (error instanceof HelmError) return { warnings, ...reportableError(error, request.flags) }
    if (error instanceof CliError) return { warnings, error, text: '' }
    throw error
  }
}

const CALL = Symbol.for('flotilla.quick-render')
const CALL_IT = "globalThis[Symbol.for('flotilla.quick-render')]()"

/** Calls a function under the watchdog of Node's vm module, which interrupts the call after the time limit. */
function withinTime<T>(timeMs: number, call: () => T): T | 'late' {
  const scope = globalThis as { [CALL]?: () => T }
  scope[CALL] = call
  try {
    return new Script(CALL_IT).runInThisContext({ timeout: Math.ceil(timeMs) }) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'late'
    throw error
  } finally {
    delete scope[CALL]
  }
}
