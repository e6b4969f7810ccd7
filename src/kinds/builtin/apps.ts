import { Type } from 'typebox'
import type { Static } from 'typebox'
import { isObject } from '../../core/json.ts'
import { requirementsOf } from '../../core/selector.ts'
import type { LabelSelector } from '../../core/selector.ts'
import { AGE } from '../define-kind.ts'
import type { ObjOf } from '../define-kind.ts'
import type { UnknownObject } from '../meta.ts'
import { PodTemplate } from './pod-template.ts'
import {
  atomic,
  BOOL,
  defineBuiltin,
  fields,
  INT32,
  INT64,
  intOr,
  keyed,
  mapOf,
  opt,
  QUANTITY,
  TEXT,
  textOr,
  TIME,
} from './vocabulary.ts'

const Selector = fields(
  {
    matchLabels: opt(mapOf(TEXT)),
    matchExpressions: opt(
      atomic(
        fields({
          key: TEXT,
          operator: Type.Unsafe<'In' | 'NotIn' | 'Exists' | 'DoesNotExist'>({ type: 'string' }),
          values: opt(atomic(TEXT)),
        }),
      ),
    ),
  },
  { 'x-kubernetes-map-type': 'atomic' },
)

interface Strategy {
  type: string
  rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string }
}

const DeploymentStrategy = Type.Unsafe<Strategy>({
  ...fields({
    type: textOr('RollingUpdate'),
    rollingUpdate: opt(fields({ maxUnavailable: opt(QUANTITY), maxSurge: opt(QUANTITY) })),
  }),
  default: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
})

function countAt(object: UnknownObject, part: string, field: string): number {
  const owner = object[part]
  return isObject(owner) ? Number(owner[field] ?? 0) : 0
}

function containersOf(object: UnknownObject, field: 'name' | 'image'): string {
  const { spec } = object as unknown as { spec: { template: Static<typeof PodTemplate> } }
  return (spec.template.spec?.containers ?? []).map((container) => container[field] ?? '').join(',')
}

/** The selector as `kubectl get -o wide` shows it. */
function selectorText(selector: LabelSelector): string {
  return requirementsOf(selector)
    .map(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key
      if (operator === 'DoesNotExist') return `!${key}`
      if (operator === 'In' && values.length === 1) return `${key}=${values[0]}`
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort().join(',')})`
    })
    .sort()
    .join(',')
}

/** A number of equal pods, kept and rolled over. */
export const Deployment = defineBuiltin({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
  shortNames: ['deploy'],
  categories: ['all'],
  description: 'A number of equal pods, kept and rolled over.',
  subresources: {
    status: true,
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  fields: fields({
    spec: fields({
      replicas: intOr(1),
      selector: Selector,
      template: PodTemplate,
      strategy: DeploymentStrategy,
      minReadySeconds: opt(INT32),
      revisionHistoryLimit: intOr(10),
      progressDeadlineSeconds: intOr(600),
      paused: opt(BOOL),
    }),
    status: opt(
      fields({
        observedGeneration: opt(INT64),
        replicas: opt(INT32),
        updatedReplicas: opt(INT32),
        readyReplicas: opt(INT32),
        availableReplicas: opt(INT32),
        unavailableReplicas: opt(INT32),
        terminatingReplicas: opt(INT32),
        collisionCount: opt(INT32),
        conditions: opt(
          keyed(
            ['type'],
            fields({
              type: TEXT,
              status: TEXT,
              lastUpdateTime: opt(TIME),
              lastTransitionTime: opt(TIME),
              reason: opt(TEXT),
              message: opt(TEXT),
            }),
          ),
        ),
      }),
    ),
  }),
  columns: [
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.readyReplicas',
      cell: (object) => `${countAt(object, 'status', 'readyReplicas')}/${countAt(object, 'spec', 'replicas')}`,
    },
    {
      name: 'Up-to-date',
      type: 'string',
      jsonPath: '.status.updatedReplicas',
      cell: (object) => countAt(object, 'status', 'updatedReplicas'),
    },
    {
      name: 'Available',
      type: 'string',
      jsonPath: '.status.availableReplicas',
      cell: (object) => countAt(object, 'status', 'availableReplicas'),
    },
    AGE,
    { name: 'Containers', type: 'string', jsonPath: '', priority: 1, cell: (object) => containersOf(object, 'name') },
    { name: 'Images', type: 'string', jsonPath: '', priority: 1, cell: (object) => containersOf(object, 'image') },
    {
      name: 'Selector',
      type: 'string',
      jsonPath: '',
      priority: 1,
      cell: (object) => selectorText((object['spec'] as { selector: LabelSelector }).selector),
    },
  ],
})
export type Deployment = ObjOf<typeof Deployment>
