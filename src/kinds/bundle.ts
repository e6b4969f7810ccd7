import { BUNDLE_OPTIONS } from './bundle-options.ts'
import { AGE, defineKind } from './define-kind.ts'
import type { ObjOf } from './define-kind.ts'
import { Conditions, digest, int, intOrString, name, object, optional, text } from './schema.ts'

/** A count from 1, or a percentage from 1% to 100%. */
export const concurrency = (options: { readonly default?: unknown; readonly description?: string } = {}) =>
  intOrString({ minimum: 1, pattern: '^([1-9][0-9]?|100)%$', ...options })

/** What should run. */
export const Bundle = defineKind({
  kind: 'Bundle',
  plural: 'bundles',
  scope: 'Namespaced',
  shortNames: ['fb'],
  description: 'What should run: Kubernetes objects, and the Placement that says where.',
  spec: object({
    manifests: text({ max: 1_048_576, description: 'Kubernetes objects as YAML documents.' }),
    placement: name({ description: 'The Placement, in this namespace, that selects the clusters.' }),
    rollout: optional(
      object(
        {
          concurrency: optional(
            concurrency({ description: 'How many clusters may be changing at once: a count or `25%`.' }),
          ),
        },
        { description: 'How changes move through the fleet.' },
      ),
    ),
    ...BUNDLE_OPTIONS,
  }),
  status: object({
    observedGeneration: optional(int()),
    conditions: Conditions,
    release: optional(name({ description: 'The newest Release made from this Bundle.' })),
    revision: optional(
      object({ generation: int(), set: digest() }, { description: 'What the newest Release contains of this Bundle.' }),
    ),
  }),
  columns: [
    { name: 'Placement', type: 'string', jsonPath: '.spec.placement' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Release', type: 'string', jsonPath: '.status.release' },
    AGE,
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'hello', namespace: 'default' },
      spec: {
        manifests:
          'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hello\n  namespace: default\ndata:\n  greeting: good morning\n',
        placement: 'stores',
        rollout: { concurrency: '25%' },
      },
    },
  ],
})
export type Bundle = ObjOf<typeof Bundle>
