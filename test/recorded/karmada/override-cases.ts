/** Recorded questions about override policies. */
import { applyOverrides } from '../../../src/dialects/karmada/override/apply-overrides.ts'
import type { OverridePolicy } from '../../../src/dialects/karmada/override/apply-overrides.ts'
import type { SelectableObject } from '../../../src/dialects/karmada/resource-selector.ts'
import type { KarmadaCluster } from '../../../src/dialects/karmada/types.ts'
import type { RecordedCase } from '../recorded-case.ts'

export function answerOverride(input: RecordedCase): unknown {
  const { object, cluster, target, policies } = input as unknown as {
    readonly object: SelectableObject
    readonly cluster: KarmadaCluster
    readonly target?: string
    readonly policies: readonly OverridePolicy[]
  }
  if (target !== undefined && target !== cluster.metadata.name) return { error: `cluster "${target}" not found` }
  try {
    return applyOverrides(object, cluster, policies)
  } catch (error) {
    return { error: (error as Error).message }
  }
}
