// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Karmada's WorkloadRebalancer: a request to divide the replicas of workloads anew, once. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { enumOf, int, listOf, object, optional, text, time } from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'

const MANY = { max: 10_000 }
const words = () => text({ max: 65_536 })
const Workload = object({ apiVersion: words(), kind: words(), namespace: optional(words()), name: words() })

const Spec = object({
  workloads: listOf(Workload, { ...MANY, min: 1 }),
  ttlSecondsAfterFinished: optional(int({ maximum: 2_147_483_647 })),
})
const Status = object({
  observedWorkloads: optional(
    listOf(
      object({
        workload: Workload,
        result: optional(enumOf(['Successful', 'Failed'])),
        reason: optional(enumOf(['ReferencedBindingNotFound'])),
      }),
      MANY,
    ),
  ),
  observedGeneration: optional(int()),
  finishTime: optional(time()),
})

/** A request to divide workloads anew. */
export interface WorkloadRebalancer extends KubeObject {
  spec: Static<typeof Spec>
  status?: Static<typeof Status>
}

export const WorkloadRebalancer: Kind<WorkloadRebalancer> = kindOf<WorkloadRebalancer>({
  group: 'apps.karmada.io',
  version: 'v1alpha1',
  kind: 'WorkloadRebalancer',
  plural: 'workloadrebalancers',
  scope: 'Cluster',
  categories: ['karmada-io'],
  description: 'Request to divide the replicas of workloads anew, once; as in Karmada.',
  subresources: { status: true },
  required: ['spec'],
  fields: { spec: toStructural(Spec), status: toStructural(Status) },
  columns: [{ name: 'Finished', type: 'date', jsonPath: '.status.finishTime' }, AGE],
})
