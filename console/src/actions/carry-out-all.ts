/** Carries out the actions of several objects in turn; a refusal of one does not keep the others from theirs. */
import { carryOut } from './action.ts'
import type { Action, Asking, Requests } from './action.ts'

export interface BulkResult {
  readonly done: readonly string[]
  readonly failed: readonly { readonly name: string; readonly message: string }[]
  /** Of the last request that was done. */
  readonly auditId: string | undefined
}

export async function carryOutAll(
  names: readonly string[],
  actionFor: (name: string) => Action,
  {
    asking,
    requests,
    told,
  }: { readonly asking: Asking; readonly requests: Requests; readonly told: (count: number) => void },
): Promise<BulkResult> {
  const done: string[] = []
  const failed: { name: string; message: string }[] = []
  let auditId: string | undefined
  for (const name of names) {
    try {
      ;({ auditId } = await carryOut(actionFor(name), asking, requests))
      done.push(name)
    } catch (caught) {
      failed.push({ name, message: caught instanceof Error ? caught.message : String(caught) })
    }
    told(done.length + failed.length)
  }
  return { done, failed, auditId }
}
