import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { Project } from '../../kinds/native/project.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { createApiServer } from '../server/api-server.ts'

/** An API whose policy refuses ConfigMaps for each Project that the condition matches. */
async function world(t: TestContext, condition: string) {
  const clock = createVirtualClock()
  const basis = { clock, ids: createSeededIds('params'), log: silentLogger }
  const api = createApiServer({ ...basis, store: createMemoryStore(), kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS] })
  t.after(() => api.close())
  const caller = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const name = 'no-maps.example.com'
  await client.create(ValidatingAdmissionPolicy, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      paramKind: { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Project' },
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      matchConditions: [{ name: 'mine', expression: condition }],
      validations: [{ expression: 'false', messageExpression: "'' + params.metadata.name" }],
    },
  })
  await client.create(ValidatingAdmissionPolicyBinding, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      paramRef: { selector: {}, parameterNotFoundAction: 'Allow' },
    },
  })
  /** The Project that refuses a ConfigMap; undefined when none does. */
  const refusedBy = async (map: string): Promise<string | undefined> => {
    try {
      await client.create(ConfigMap, build(ConfigMap, `default/${map}`, {}), { dryRun: true })
      return undefined
    } catch (caught) {
      if (!isApiError(caught)) throw caught
      return /denied request: (.*)$/.exec(caught.message)![1]
    }
  }
  const put = (project: string, ...namespaces: string[]) =>
    client.create(Project, build(Project, project, { spec: { namespaces } }))
  return { client, refusedBy, put }
}

const MINE = 'has(params.spec.namespaces) && request.namespace in params.spec.namespaces'

test('a parameter that changes is asked again; one that is gone is asked no more', async (t) => {
  const { client, refusedBy, put } = await world(t, MINE)
  assert.equal(await refusedBy('a'), undefined)
  await put('other', 'elsewhere')
  assert.equal(await refusedBy('a'), undefined)
  assert.equal(await refusedBy('a'), undefined)
  const other = await client.get(Project, { name: 'other' })
  await client.update(Project, { ...other, spec: { namespaces: ['elsewhere', 'default'] } })
  assert.equal(await refusedBy('a'), 'other')
  assert.equal(await refusedBy('a'), 'other')
  await client.delete(Project, { name: 'other' })
  assert.equal(await refusedBy('a'), undefined)
})

test('a condition that reads more than the namespace is evaluated for each request', async (t) => {
  for (const condition of ["request.name == 'b'", "object.metadata.name == 'b'"]) {
    const { refusedBy, put } = await world(t, `params != null && ${condition}`)
    await put('other', 'elsewhere')
    assert.equal(await refusedBy('a'), undefined, condition)
    assert.notEqual(await refusedBy('b'), undefined, condition)
  }
})
