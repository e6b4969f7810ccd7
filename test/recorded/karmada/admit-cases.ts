/** Recorded questions about the admission of policies. */
import { admitPolicy } from '../../../src/dialects/karmada/admit/admit-policy.ts'
import type { RecordedCase } from '../recorded-case.ts'

type Fields = Readonly<Record<string, unknown>>

export function answerAdmit(input: RecordedCase): unknown {
  const { object, old, options } = input as unknown as {
    readonly object: Fields
    readonly old?: Fields
    readonly options?: { readonly allowNoExecuteTaintPolicy?: boolean }
  }
  return admitPolicy({
    object,
    ...(old && { old }),
    allowsNoExecuteTaints: options?.allowNoExecuteTaintPolicy ?? false,
    newId: () => '<uuid>',
  })
}
