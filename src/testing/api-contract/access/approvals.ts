import assert from 'node:assert/strict'
import {
  APPROVE_BINDING,
  APPROVE_POLICY,
  ROLLOUT_PROTECTION_BINDING,
  ROLLOUT_PROTECTION_POLICY,
} from '../../../kinds/policies/approve-policy.ts'
import type { Api, ApiCase, Reply } from '../harness.ts'
import { eventually, withPolicy } from '../policies/validating-policies.ts'
import type { Spec } from '../policies/validating-policies.ts'

/** Approvals: the API sets the author, roles allow approving, and no edit gets around the rules. */

const FLOTILLA = '/apis/flotilla.dev/v1alpha1'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** A person of one case, with rules in its namespace. */
async function person(api: Api, name: string, rules: readonly Spec[]): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await api.ok('POST', `${RBAC}/namespaces/${api.namespace}/roles`, {
    apiVersion,
    kind: 'Role',
    metadata: { name },
    rules,
  })
  await api.ok('POST', `${RBAC}/namespaces/${api.namespace}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  })
}

const rule = (resources: string[], verbs: string[], resourceNames?: string[]): Spec => ({
  apiGroups: ['flotilla.dev'],
  resources,
  verbs,
  ...(resourceNames ? { resourceNames } : {}),
})

const messageOf = (reply: Reply): string => String(reply.body.message).replace(/^.*denied request: /, '')

/** The cases. */
export const APPROVAL_CASES: readonly ApiCase[] = [
  {
    title: 'an approval is its author’s own, for groups they are in, and needs the verb approve on the plan',
    async run(api) {
      const { namespace } = api
      const ana = `ana-${namespace}`
      await person(api, ana, [
        rule(['approvals'], ['create', 'get', 'update']),
        rule(['rolloutplans'], ['approve'], ['careful']),
      ])
      const post = (spec: Spec, dryRun = '?dryRun=All') =>
        api.send('POST', `${FLOTILLA}/namespaces/${namespace}/approvals${dryRun}`, {
          body: {
            apiVersion: 'flotilla.dev/v1alpha1',
            kind: 'Approval',
            metadata: { name: 'word', namespace },
            spec: { rollout: 'hello-g2', plan: 'careful', ring: 'rest', decision: 'Approve', author: ana, ...spec },
          },
          headers: { 'impersonate-user': ana, 'impersonate-group': 'ops' },
        })
      const installed = [APPROVE_POLICY, APPROVE_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const forged = await post({ author: 'ben' })
        assert.equal(forged.status, 403, forged.text)
        assert.equal(messageOf(forged), `spec.author is ben, and the caller is ${ana}; spec.author must be the caller`)
        const outside = await post({ groups: ['ops', 'leads'] })
        assert.equal(messageOf(outside), `${ana} is not in all groups of spec.groups`)
        const elsewhere = await post({ plan: 'strict' })
        assert.equal(elsewhere.status, 403, elsewhere.text)
        assert.equal(
          messageOf(elsewhere),
          `${ana} may not approve hello-g2: it needs the verb approve on rolloutplans.flotilla.dev strict`,
        )
        const without = await post({ plan: undefined })
        assert.equal(
          messageOf(without),
          `${ana} may not approve hello-g2: it needs the verb approve on rollouts.flotilla.dev hello-g2`,
        )
        const made = await post({ groups: ['ops'] }, '')
        assert.ok(made.status === 201 || made.status === 409, made.text)
        const there = await api.ok('GET', `${FLOTILLA}/namespaces/${namespace}/approvals/word`)
        const spec = { ...(there as unknown as { spec: Spec }).spec, decision: 'Reject' }
        const changed = await api.send('PUT', `${FLOTILLA}/namespaces/${namespace}/approvals/word`, {
          body: { ...there, spec },
          headers: { 'impersonate-user': ana },
        })
        assert.equal(changed.status, 422, changed.text)
        assert.match(String(changed.body.message), /field is immutable/)
      })
    },
  },
  {
    title: 'a rollout that asks for approvals keeps what it asks for, and who started it',
    async run(api) {
      const { namespace } = api
      const ben = `ben-${namespace}`
      await person(api, ben, [rule(['rollouts'], ['get', 'update'])])
      const path = `${FLOTILLA}/namespaces/${namespace}/rollouts/hello-g2`
      const gates = [{ name: 'slo', when: 'Pass', bundleReady: { bundle: 'base' } }]
      const rings = [
        { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1, gates },
        { name: 'rest', concurrency: 10, approvals: { count: 2, noSelfApproval: true } },
      ]
      const spec: Spec = { release: 'hello-g2', plan: 'careful', rings, paused: true }
      await api.ok('POST', `${FLOTILLA}/namespaces/${namespace}/rollouts`, {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'Rollout',
        metadata: { name: 'hello-g2', namespace },
        spec,
      })
      const put = async (change: Spec, who = ben) => {
        const body = await api.ok('GET', path)
        return await api.send('PUT', `${path}?dryRun=All`, {
          body: { ...body, spec: { ...spec, ...change } },
          headers: { 'impersonate-user': who },
        })
      }
      const installed = [ROLLOUT_PROTECTION_POLICY, ROLLOUT_PROTECTION_BINDING] as unknown as readonly [Spec, Spec]
      await withPolicy(api, installed, async () => {
        const [canary, rest] = rings
        const { approvals: _, ...open } = rest!
        const bypasses: readonly Spec[] = [
          { rings: [canary, open] },
          { rings: [canary, { ...rest, approvals: { count: 1, noSelfApproval: true } }] },
          { rings: [rest, canary] },
          { rings: [rest] },
          { rings: [{ ...canary, selector: {} }, rest] },
          { rings: [{ ...canary, gates: [] }, rest] },
          { rings: [{ ...canary, gates: [{ ...gates[0], bundleReady: { bundle: 'other' } }] }, rest] },
          { rings: [canary, rest, { name: 'more', concurrency: 5 }] },
          { plan: 'lax' },
        ]
        for (const change of bypasses) {
          const reply = await put(change)
          assert.equal(reply.status, 403, `${JSON.stringify(change)} ${reply.text}`)
          assert.match(messageOf(reply), /clusters, approvals and gates of a rollout cannot change/)
        }
        assert.match(messageOf(await put({ startedBy: ['ana'] })), /can add only its own name/)
        assert.match(messageOf(await put({ paused: false })), /spec\.startedBy: must contain the caller/)
        const act = { n: 1, verb: 'RollBack', by: 'ana', at: '2026-11-16T12:00:00Z' }
        assert.match(
          messageOf(await put({ acts: [act] })),
          /spec\.acts: the caller is .*, which can add only requests in its own name/,
        )
        const asked = await put({ acts: [{ ...act, by: ben }] })
        assert.equal(asked.status, 200, asked.text)
        const goOn = await put({ paused: false, startedBy: [ben] })
        assert.equal(goOn.status, 200, goOn.text)
        const budgets = await put({ rings: [{ ...canary, concurrency: 5 }, rest] })
        assert.equal(budgets.status, 200, budgets.text)
      })
      const zoe = `zoe-${namespace}`
      const bypass = rule(['rolloutplans'], ['bypass'], ['careful'])
      await person(api, zoe, [rule(['rollouts'], ['get', 'update']), bypass])
      await withPolicy(api, installed, async () => {
        const open = { rings: [rings[0], { ...rings[1], approvals: undefined }] }
        assert.equal((await put(open)).status, 403)
        const broken = await put(open, zoe)
        assert.equal(broken.status, 200, broken.text)
      })
      await eventually(async () => {
        const body = await api.ok('GET', path)
        await api.ok('PUT', path, { ...body, spec: { ...spec, startedBy: ['ana'] } })
      })
      await withPolicy(api, installed, async () => {
        assert.match(messageOf(await put({ startedBy: [ben] })), /spec\.startedBy: names cannot be removed/)
      })
    },
  },
]
