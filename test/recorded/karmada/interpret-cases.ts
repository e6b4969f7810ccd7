/** Recorded questions to the resource interpreter, for the kinds of Kubernetes. */
import { interpret } from '../../../src/dialects/karmada/interpret/interpret.ts'
import type { InterpretQuestion } from '../../../src/dialects/karmada/interpret/interpret.ts'
import type { RecordedCase } from '../recorded-case.ts'

/** The time of the call in the recording. */
export const NOW = '<now>'

export function answerInterpret(input: RecordedCase): unknown {
  try {
    return interpret({ ...(input as unknown as InterpretQuestion), now: NOW })
  } catch (error) {
    return { error: (error as Error).message }
  }
}
