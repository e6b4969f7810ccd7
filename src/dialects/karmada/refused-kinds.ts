// Tested by src/hub/home/karmada-rights.contract.test.ts
/** Kinds of Karmada that the hub knows by name and refuses, each with the reason and what to use instead. */
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { shippedPolicy } from '../../kinds/policies/shipped-policy.ts'
import { rawObject } from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'

interface Refused {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly scope: Kind['scope']
  readonly instead: string
}

const REFUSED: readonly Refused[] = [
  {
    group: 'autoscaling.karmada.io',
    kind: 'FederatedHPA',
    plural: 'federatedhpas',
    scope: 'Namespaced',
    instead:
      'the hub collects no metrics of pods; use a HorizontalPodAutoscaler in each cluster and the label resourcetemplate.karmada.io/retain-replicas on the workload',
  },
  {
    group: 'autoscaling.karmada.io',
    kind: 'CronFederatedHPA',
    plural: 'cronfederatedhpas',
    scope: 'Namespaced',
    instead: 'the hub scales no workload by time; change spec.replicas of the workload on the hub at these times',
  },
  {
    group: 'remedy.karmada.io',
    kind: 'Remedy',
    plural: 'remedies',
    scope: 'Cluster',
    instead: 'the hub controls no traffic; watch the conditions of clusters.flotilla.dev and act on them',
  },
  {
    group: 'config.karmada.io',
    kind: 'ResourceInterpreterWebhookConfiguration',
    plural: 'resourceinterpreterwebhookconfigurations',
    scope: 'Cluster',
    instead: 'decisions of the hub depend on no other server',
  },
]

const VERSION = 'v1alpha1'

function knownByName({ group, kind, plural, scope, instead }: Refused): Kind {
  return kindOf({
    group,
    version: VERSION,
    kind,
    plural,
    scope,
    description: `${kind} of Karmada. Objects of this kind are refused: ${instead}.`,
    categories: [],
    subresources: { status: false },
    fields: { spec: toStructural(rawObject({ description: 'As in Karmada.' })) },
    columns: [AGE],
  })
}

/** The kinds that are refused. */
export const REFUSED_KINDS: readonly Kind[] = REFUSED.map(knownByName)

/** Policies that refuse new objects of these kinds. */
export const REFUSED_POLICIES: readonly ValidatingAdmissionPolicy[] = REFUSED.map(
  ({ group, kind, plural, instead }, nth) =>
    shippedPolicy({
      name: `${plural}.karmada.flotilla.dev`,
      kind: REFUSED_KINDS[nth]!,
      operations: ['CREATE'],
      validations: [
        { expression: 'false', message: `${kind} of ${group} is not served: ${instead}`, reason: 'Invalid' },
      ],
    }),
)
