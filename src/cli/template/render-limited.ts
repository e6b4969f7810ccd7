/** Renders with limits on time and memory, so that a hostile chart cannot harm the command. */
import type { QuickBudget } from './render-quickly.ts'
import { renderQuickly } from './render-quickly.ts'
import type { TemplateAnswer, TemplateRequest } from './template-request.ts'

/** Limits of a render, and the receivers of its messages. */
export interface RenderCaps {
  readonly memoryMiB: number
  readonly warn: (text: string) => void
  /** With --debug, receives template output that is not YAML. */
  readonly debug: (text: string) => void
  /** Folder of the thread entry files. Defaults to the folder of this program's code. */
  readonly threadsFolder?: () => URL
}

/** Enough for most charts, and too little to harm the process. */
const QUICK: QuickBudget = { timeMs: 2_000, memoryMiB: 256 }

/**
 * Renders. Throws HelmError with the error of helm, or CliError if a limit was reached. Starting a thread takes as long
 * as rendering a usual chart, so only a chart that exceeds the budget is rendered again in a thread.
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
