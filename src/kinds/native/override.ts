// Tested by src/controllers/bundle-render/bundle-sources.sim.test.ts
import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { LAYER_CLUSTERS, LAYER_OPTIONS } from '../fields/layer.ts'
import { enumOf, listOf, name, object, optional, text, time } from '../schema/schema-builders.ts'

export const Override = defineKind({
  kind: 'Override',
  plural: 'overrides',
  scope: 'Namespaced',
  shortNames: ['fov'],
  description:
    'Change of a Bundle on some clusters, applied after the variants of the Bundle, with an owner, a reason and an optional expiry time.',
  spec: object(
    {
      bundle: name({ description: 'Name of the Bundle in this namespace that the Override changes.' }),
      ...LAYER_CLUSTERS,
      ...LAYER_OPTIONS,
      drift: optional(
        listOf(
          object({
            kind: text({ max: 63, min: 1, description: 'Kind of the object.' }),
            name: text({ max: 253, min: 1, description: 'Name of the object.' }),
            namespace: optional(
              text({ max: 63, min: 1, description: 'Namespace of the object. Absent for a cluster-scoped object.' }),
            ),
            action: enumOf(['Revert', 'Accept'], {
              description:
                'Action for the drift of the object. `Revert`: the agent corrects drift, whatever `drift.mode` of the Bundle is. `Accept`: the agent leaves `fields` to other field managers.',
            }),
            fields: optional(
              listOf(text({ max: 1024, min: 1 }), {
                max: 64,
                description: 'Paths of the fields to accept, for example `.spec.replicas`. Required with `Accept`.',
              }),
            ),
          }),
          {
            max: 64,
            description:
              'Decisions about the drift of objects on `clusters`. They are in force at once, without a Release and a Rollout, and need an agent of version 0.2. An Override with this field changes nothing else.',
          },
        ),
      ),
      policy: optional(
        text({
          max: 253,
          min: 1,
          description:
            'Name of the ValidatingAdmissionPolicy that the Override is an exception of: the rendered content of the Bundle does not have to meet the policy on the selected clusters. The caller needs the verb `except` on the policy. `ticket` and `expiresAt` are required. An Override with this field changes nothing else.',
        }),
      ),
      control: optional(
        text({
          max: 253,
          min: 1,
          description:
            'Control of `policy`, for example `AC-6 Least Privilege`, as its annotation `policy.open-cluster-management.io/controls` names it. The exception has no effect if the policy does not name the control. If omitted, the exception is of the whole policy.',
        }),
      ),
      ticket: optional(
        text({ max: 253, min: 1, description: 'Ticket in which the Override was decided, for example `SEC-17`.' }),
      ),
      owner: text({ max: 253, min: 1, description: 'Person or team that is responsible for the Override.' }),
      reason: text({ max: 1024, min: 1, description: 'Reason of the Override.' }),
      expiresAt: optional(
        time({
          description: 'Expiry time of the Override. After this time the next Release no longer includes the Override.',
        }),
      ),
    },
    {
      description: 'Change of a Bundle on some clusters.',
      rules: [
        {
          rule: '!has(self.policy) || (has(self.ticket) && has(self.expiresAt))',
          message: 'an exception of a policy needs ticket and expiresAt',
        },
        {
          rule: '!has(self.policy) || (!has(self.drift) && !has(self.helm) && !has(self.kustomize) && !has(self.patches) && !has(self.images) && !has(self.labels) && !has(self.overlays) && !has(self.defaultNamespace) && !has(self.targetNamespace))',
          message: 'an Override with policy cannot change content',
        },
        { rule: '!has(self.control) || has(self.policy)', message: 'control needs policy' },
        {
          rule: '!has(self.drift) || (has(self.clusters) && !has(self.clusterSelector) && !has(self.anyOf) && !has(self.helm) && !has(self.kustomize) && !has(self.patches) && !has(self.images) && !has(self.labels) && !has(self.overlays) && !has(self.defaultNamespace) && !has(self.targetNamespace))',
          message: 'an Override with drift names clusters and has no clusterSelector, anyOf or content',
        },
        {
          rule: "!has(self.drift) || self.drift.all(d, (d.action == 'Accept') == has(d.fields))",
          message: 'fields is required with action Accept, and allowed with no other action',
        },
      ],
    },
  ),
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.spec.bundle' },
    { name: 'Owner', type: 'string', jsonPath: '.spec.owner' },
    { name: 'Expires', type: 'string', jsonPath: '.spec.expiresAt' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042-two-tills', namespace: 'default' },
      spec: {
        bundle: 'pos',
        clusters: ['store-042'],
        helm: { values: { tills: 2 } },
        owner: 'ana@example.com',
        reason: 'second till until the refit (TICKET-17)',
        expiresAt: '2027-01-31T00:00:00Z',
      },
    },
  ],
})
export type Override = ObjectOfKind<typeof Override>
