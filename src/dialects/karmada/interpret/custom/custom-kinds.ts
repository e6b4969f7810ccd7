// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** All custom kinds that Karmada brings an interpreter for. */
import type { CustomKind } from './custom-kind.ts'
import { FLUX_KINDS } from './flux.ts'
import { KYVERNO_KINDS } from './kyverno.ts'

/** By apiVersion and kind. */
export const CUSTOM_KINDS: Readonly<Record<string, CustomKind>> = { ...FLUX_KINDS, ...KYVERNO_KINDS }
