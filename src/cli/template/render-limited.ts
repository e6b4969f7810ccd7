/** Renders with a cap on time and memory, so that a hostile chart fails itself and never the command. */
import type { QuickBudget } from './render-quickly.ts'
import { renderQuickly } from './render-quickly.ts'
import type { TemplateAnswer, TemplateRequest } from './template-request.ts'

/** Caps on one render, and who hears its warnings. */
export interface RenderCaps {
  readonly memoryMiB: number
  readonly warn: (text: string) => void
  /** Receives what came out of the templates when that is no YAML, with --debug. */
  readonly debug: (text: string) => void
  /** The folder of the thread's file, where it is not found from this program's code. */
  readonly threadsFolder?: () => URL
}

/** Far more than a usual chart takes, and so little that nothing can go wrong with it. */
const QUICK: QuickBudget = { timeMs: 2_000, memoryMiB: 256 }

/**
 * Renders; throws HelmError with what helm would say, or CliError when a limit was reached. To start a thread costs as
 * much as to render: only a chart that turns out to be a large one is rendered anew in a thread, which can be ended.
 */
export async function renderLimited(request: TemplateRequest, caps: RenderCaps): Promise<TemplateAnswer> {
  const budget = {
    timeMs: Math.min(QUICK.timeMs, request.timeLimitMs),
    memoryMiB: Math.min(QUICK.memoryMiB, caps.memoryMiB),
  }
  const outcome = renderQuickly(request, budget)
  if (outcome === 'too much') {
    const { renderInThread } = await import('./render-in-thread.ts')
    return await renderInThread(request, caps)
  }
  for (const text of outcome.warnings) caps.warn(text)
  if ('answer' in outcome) return outcome.answer
  if (outcome.text !== '') caps.debug(outcome.text)
  throw outcome.error
}
