/**
 * What validation must say, word for word: run over our walkers in `kinds/validate.test.ts` and over a real
 * kube-apiserver in `kinds/kinds.real.test.ts`. Causes are compared as a set; a kube-apiserver has no order among
 * fields.
 */
import type { ValidationCase } from './validation-case.ts'
import { NATIVE_CASES } from './native-cases.ts'
import { SPECIMEN_CASES } from './specimen-cases.ts'

/** Objects that must be refused. */
export const VALIDATION_CASES: readonly ValidationCase[] = [...NATIVE_CASES, ...SPECIMEN_CASES]
