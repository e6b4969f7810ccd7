import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldErrorText } from '../../validation/field-error.ts'
import { REQUIRED_FIELDS } from './required-fields.ts'
import { typeSchema } from '../definitions.ts'
import { FIELD_VALIDATORS } from './field-validators.ts'
import { builtinValidationErrors } from './builtin-validation.ts'
import { POD_RULES } from './pod-rules.ts'
import { WORKLOAD_RULES } from './workload-rules.ts'

describe("what only Kubernetes' own validation knows", () => {
  const ONE = [{ name: 'a', image: 'a' }]
  const MOUNTING = [{ ...ONE[0], volumeMounts: [{ name: 'data', mountPath: '/data' }] }]
  const cases: readonly (readonly [type: string, value: object, ...missing: string[]])[] = [
    ['core.v1.ConfigMap', { data: {} }],
    ['core.v1.ServiceSpec', {}, 'ports: Required value'],
    ['core.v1.ServiceSpec', { ports: [] }, 'ports: Required value'],
    ['core.v1.ServiceSpec', { clusterIP: 'None' }],
    ['core.v1.ServiceSpec', { type: 'ExternalName' }, 'externalName: Required value'],
    ['core.v1.ServiceSpec', { ports: [{ port: 1 }] }],
    [
      'core.v1.ServiceSpec',
      { ports: [{ port: 1 }, { port: 2, name: 'b' }, { port: 3, name: '' }] },
      'ports[0].name: Required value',
      'ports[2].name: Required value',
    ],
    ['batch.v1.JobSpec', { template: { spec: { restartPolicy: 'Never', containers: ONE } } }],
    [
      'batch.v1.JobSpec',
      { template: { spec: { restartPolicy: 'Always', containers: ONE } } },
      'template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
    [
      'core.v1.PodSpec',
      {
        containers: [
          { name: 'a', image: 'a', livenessProbe: { exec: {} } },
          { name: 'b', envFrom: [{}] },
        ],
      },
      'containers[0].livenessProbe.exec.command: Required value',
      'containers[1].image: Required value',
      'containers[1].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
    ],
    ['core.v1.PodTemplateSpec', { spec: { containers: MOUNTING, volumes: [{ name: 'data', emptyDir: {} }] } }],
    [
      'core.v1.PodTemplateSpec',
      { spec: { containers: MOUNTING } },
      'spec.containers[0].volumeMounts[0].name: Not found: "data"',
    ],
    [
      'apps.v1.StatefulSetSpec',
      { template: { spec: { containers: MOUNTING } }, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
    ],
    [
      'networking.v1.HTTPIngressPath',
      { pathType: 'Prefix', backend: { service: { name: 's', port: {} } } },
      'path: Invalid value: "": must be an absolute path',
      'backend: Required value: port name or number is required',
    ],
    [
      'networking.v1.HTTPIngressPath',
      { pathType: 'ImplementationSpecific', backend: { service: { name: 's', port: { number: 80 } } } },
    ],
    [
      'core.v1.PersistentVolumeClaimSpec',
      { accessModes: ['ReadWriteOnce'], resources: { requests: {} } },
      'resources[storage]: Required value',
    ],
  ]
  for (const [type, value, ...missing] of cases) {
    it(`${type} ${JSON.stringify(value)}`, () => {
      assert.deepEqual(builtinValidationErrors(value, typeSchema(type)).map(fieldErrorText), missing)
    })
  }

  it('is said about types and fields that there are', () => {
    for (const [type, forms] of Object.entries(FIELD_VALIDATORS)) {
      const { properties = {} } = typeSchema(type)
      for (const field of Object.keys(forms)) assert.ok(Object.hasOwn(properties, field), `${type} has no ${field}`)
    }
    for (const type of Object.keys({ ...POD_RULES, ...WORKLOAD_RULES })) assert.ok(typeSchema(type).properties, type)
  })

  it('is asked of types and fields that there are', () => {
    for (const [type, asks] of Object.entries(REQUIRED_FIELDS)) {
      const { properties = {} } = typeSchema(type)
      for (const { oneOf, ofSeveral, where, unless = [] } of asks) {
        const fields = [
          ...(ofSeveral === undefined ? oneOf : [ofSeveral]),
          ...(where ? [where[0]] : []),
          ...unless.map(([field]) => field),
        ]
        for (const field of fields)
          assert.ok(Object.hasOwn(properties, field.split('.')[0]!), `${type} has no ${field}`)
      }
    }
  })
})
