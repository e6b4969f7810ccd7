// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** All custom kinds that Karmada brings an interpreter for. */
import type { CustomKind } from './custom-kind.ts'
import { BATCH_KINDS } from './batch-jobs.ts'
import { DATA_ENGINE_KINDS } from './data-engines.ts'
import { FLUX_KINDS } from './flux.ts'
import { KRUISE_KINDS } from './kruise.ts'
import { KUBEFLOW_KINDS } from './kubeflow.ts'
import { KYVERNO_KINDS } from './kyverno.ts'
import { RAY_KINDS } from './ray.ts'

/** By apiVersion and kind. */
export const CUSTOM_KINDS: Readonly<Record<string, CustomKind>> = {
  ...BATCH_KINDS,
  ...DATA_ENGINE_KINDS,
  ...FLUX_KINDS,
  ...KRUISE_KINDS,
  ...KUBEFLOW_KINDS,
  ...KYVERNO_KINDS,
  ...RAY_KINDS,
}
