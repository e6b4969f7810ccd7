import assert from 'node:assert/strict'
import type { Api, ApiCase } from '../harness.ts'
import { eventually } from './validating-policies.ts'
import type { Spec } from './validating-policies.ts'

/** What a policy's status says about its expressions. */

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
}

interface Checked {
  readonly metadata: { readonly generation: number; readonly managedFields: readonly Spec[] }
  readonly status: { readonly observedGeneration: number; readonly typeChecking: Spec }
}

const DEPLOYMENTS: Rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }

function policyOf(api: Api, spec: Spec, rules: readonly Rule[]): Spec {
  const resourceRules = rules.map((rule) => ({ ...rule, operations: ['CREATE'] }))
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: api.namespace },
    spec: { matchConstraints: { resourceRules }, ...spec },
  }
}

async function checked(api: Api): Promise<Checked> {
  let policy: Checked | undefined
  await eventually(async () => {
    policy = (await api.ok('GET', `${POLICIES}/${api.namespace}`)) as unknown as Checked
    assert.equal(policy.status?.observedGeneration, policy.metadata.generation)
  })
  return policy!
}

/** Stores a policy for the time of a check of its status. */
async function having(
  api: Api,
  spec: Spec,
  rules: readonly Rule[],
  check: (policy: Checked) => void | Promise<void>,
): Promise<void> {
  await api.ok('POST', POLICIES, policyOf(api, spec, rules))
  try {
    await check(await checked(api))
  } finally {
    await api.ok('DELETE', `${POLICIES}/${api.namespace}`)
  }
}

/** The warnings for some expressions about the kinds of some rules. */
async function warningsFor(
  api: Api,
  expressions: readonly string[],
  { rules = [DEPLOYMENTS], ...more }: Spec & { readonly rules?: readonly Rule[] } = {},
): Promise<unknown> {
  let found: unknown
  const validations = expressions.map((expression) => ({ expression }))
  await having(api, { validations, ...more }, rules, ({ status }) => {
    found = status.typeChecking['expressionWarnings']
  })
  return found
}

const warningAt = (fieldRef: string, ...lines: readonly string[]) => ({ fieldRef, warning: `${lines.join('\n')}\n` })

/** The cases. */
export const TYPE_CHECK_CASES: readonly ApiCase[] = [
  {
    title: 'expressions that fit the kinds of a policy leave an empty check, owned by who checked',
    async run(api) {
      const validations = [{ expression: 'object.spec.replicas > 1 && object.metadata.labels.x == "a"' }]
      await having(api, { validations }, [DEPLOYMENTS], async ({ metadata, status }) => {
        assert.deepEqual(status, { observedGeneration: 1, typeChecking: {} })
        const { time: _time, ...owner } = metadata.managedFields.find(({ subresource }) => subresource === 'status')!
        assert.deepEqual(owner, {
          manager: 'validatingadmissionpolicy-status',
          operation: 'Apply',
          apiVersion: 'admissionregistration.k8s.io/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:status': { 'f:observedGeneration': {}, 'f:typeChecking': {} } },
          subresource: 'status',
        })
        const worse = [{ expression: 'object.spec.replicas == "a"' }]
        await api.send('PATCH', `${POLICIES}/${api.namespace}`, {
          body: { spec: { validations: worse } },
          contentType: 'application/merge-patch+json',
        })
        const again = await checked(api)
        assert.equal(again.status.observedGeneration, 2)
        assert.deepEqual(again.status.typeChecking['expressionWarnings'], [
          warningAt(
            'spec.validations[0].expression',
            `apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'`,
            ' | object.spec.replicas == "a"',
            ' | .....................^',
          ),
        ])
      })
    },
  },
  {
    title: 'each expression that does not fit is named, with every mistake in it',
    async run(api) {
      const validations = [
        { expression: 'object.foo < 1 && object.bar == 2', messageExpression: `'x' + object.spec.replicas` },
        { expression: 'true' },
        { expression: 'object.metadata.bad == oldObject.spec.template.spec.containers[0].nome' },
      ]
      await having(api, { validations }, [DEPLOYMENTS], ({ status }) => {
        assert.deepEqual(status.typeChecking['expressionWarnings'], [
          warningAt(
            'spec.validations[0].expression',
            `apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'`,
            ' | object.foo < 1 && object.bar == 2',
            ' | ......^',
            `ERROR: <input>:1:25: undefined field 'bar'`,
            ' | object.foo < 1 && object.bar == 2',
            ' | ........................^',
          ),
          warningAt(
            'spec.validations[0].messageExpression',
            `apps/v1, Kind=Deployment: ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'`,
            ` | 'x' + object.spec.replicas`,
            ' | ....^',
          ),
          warningAt(
            'spec.validations[2].expression',
            `apps/v1, Kind=Deployment: ERROR: <input>:1:16: undefined field 'bad'`,
            ' | object.metadata.bad == oldObject.spec.template.spec.containers[0].nome',
            ' | ...............^',
            `ERROR: <input>:1:66: undefined field 'nome'`,
            ' | object.metadata.bad == oldObject.spec.template.spec.containers[0].nome',
            ' | .................................................................^',
          ),
        ])
      })
    },
  },
  {
    title: 'a policy about several kinds is checked for each, and for none where it names them by a star',
    async run(api) {
      const core: Rule = {
        apiGroups: [''],
        apiVersions: ['v1'],
        resources: ['pods', 'configmaps', 'events', 'pods/status'],
      }
      assert.deepEqual(await warningsFor(api, ['object.data.x == "1"'], { rules: [core] }), [
        warningAt(
          'spec.validations[0].expression',
          ...['/v1, Kind=Event', '/v1, Kind=Pod', 'events.k8s.io/v1, Kind=Event'].flatMap((kind, index) => [
            ...(index > 0 ? [''] : []),
            `${kind}: ERROR: <input>:1:7: undefined field 'data'`,
            ' | object.data.x == "1"',
            ' | ......^',
          ]),
        ),
      ])
      for (const star of [{ apiGroups: ['*'] }, { apiVersions: ['*'] }, { resources: ['*'] }]) {
        assert.equal(await warningsFor(api, ['object.zz == 1'], { rules: [{ ...DEPLOYMENTS, ...star }] }), undefined)
      }
    },
  },
  {
    title: 'variables, parameters, quantities and what is an int or a string have their types',
    async run(api) {
      const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
      const variables = [{ name: 'count', expression: 'object.spec.replicas' }]
      const one = async (expression: string) => {
        const found = (await warningsFor(api, [expression], { paramKind, variables })) as readonly Spec[] | undefined
        return (
          found &&
          String(found[0]!['warning'])
            .split('\n')[0]!
            .replace(/^.*<input>:/, '')
        )
      }
      assert.equal(await one('variables.count > 1 && params.data["a"] == "b"'), undefined)
      assert.equal(
        await one('variables.count == "1"'),
        `1:17: found no matching overload for '_==_' applied to '(int, string)'`,
      )
      assert.equal(await one('params.spec == 1'), `1:7: undefined field 'spec'`)
      assert.equal(await one('object.spec.strategy.rollingUpdate.maxSurge == "1"'), undefined)
      assert.equal(await one('object.spec.strategy.rollingUpdate.maxSurge == 1'), undefined)
      assert.equal(await one('authorizer.group("").resource("pods").check("get").allowed()'), undefined)
    },
  },
  {
    title: 'a custom kind is checked by its schema',
    async run(api) {
      const group = `${api.namespace}.example.com`
      const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const schema = {
        type: 'object',
        properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
      }
      await api.ok('POST', crds, {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `boxes.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'boxes', kind: 'Box', singular: 'box', listKind: 'BoxList' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      })
      try {
        await eventually(async () => void (await api.ok('GET', `/apis/${group}/v1/boxes`)))
        const rules = [{ apiGroups: [group], apiVersions: ['v1'], resources: ['boxes'] }]
        await eventually(async () => {
          assert.deepEqual(
            await warningsFor(
              api,
              ['object.spec.size < 3 && object.metadata.name != ""', 'object.spec.colour == "red"'],
              { rules },
            ),
            [
              warningAt(
                'spec.validations[1].expression',
                `${group}/v1, Kind=Box: ERROR: <input>:1:12: undefined field 'colour'`,
                ' | object.spec.colour == "red"',
                ' | ...........^',
              ),
            ],
          )
        })
      } finally {
        await api.ok('DELETE', `${crds}/boxes.${group}`)
      }
    },
  },
]
