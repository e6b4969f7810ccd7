import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../core/json.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { GitRepoRestriction } from '../kinds.ts'
import { joinRestrictions, restrictBundles, restrictRepo } from './restrictions.ts'

type Fields = Omit<GitRepoRestriction, 'apiVersion' | 'kind' | 'metadata'>

const rulesOf = (...all: Fields[]) =>
  joinRestrictions(all.map((fields, at) => build(GitRepoRestriction, `team/r${at}`, fields)))!
const REPO = { repo: 'https://git.example.com/shop/apps' }
const outcome = (spec: JsonObject, ...all: Fields[]) => {
  const answer = restrictRepo({ ...REPO, ...spec }, rulesOf(...all))
  return 'refusal' in answer
    ? answer.refusal.replace(/^GitRepoRestrictions \([^)]*\) of the namespace /, '')
    : answer.spec
}

test('a namespace without restrictions has none', () => {
  assert.equal(joinRestrictions([]), undefined)
})

describe('what a GitRepo may name', () => {
  const table: [name: string, spec: JsonObject, restrictions: Fields[], expected: string | JsonObject][] = [
    ['nothing is restricted', { serviceAccount: 'a' }, [{}], { serviceAccount: 'a' }],
    ['the default account', {}, [{ defaultServiceAccount: 'a' }], { serviceAccount: 'a' }],
    [
      'an own account over the default',
      { serviceAccount: 'b' },
      [{ defaultServiceAccount: 'a' }],
      { serviceAccount: 'b' },
    ],
    [
      'an account that is not listed',
      { serviceAccount: 'root' },
      [{ allowedServiceAccounts: ['a', 'b'] }],
      'do not list spec.serviceAccount root in allowedServiceAccounts.',
    ],
    [
      'an account that another object lists',
      { serviceAccount: 'b' },
      [{ allowedServiceAccounts: ['a'] }, { allowedServiceAccounts: ['b'] }],
      { serviceAccount: 'b' },
    ],
    ['a repository that a pattern matches in part', {}, [{ allowedRepoPatterns: ['git.example.com/shop/'] }], {}],
    [
      'a repository that no pattern matches',
      {},
      [{ allowedRepoPatterns: ['^https://git\\.example\\.com/team/'] }],
      'have no entry in allowedRepoPatterns that matches spec.repo https://git.example.com/shop/apps.',
    ],
    [
      'a pattern that cannot be read',
      {},
      [{ allowedRepoPatterns: ['.*', '('] }],
      'have "(" in allowedRepoPatterns, which is not an RE2 pattern.',
    ],
    ['the default Secret', {}, [{ defaultClientSecretName: 'git' }], { clientSecretName: 'git' }],
    [
      'a Secret that is not listed',
      { clientSecretName: 'theirs' },
      [{ allowedClientSecretNames: ['git'] }],
      'do not list spec.clientSecretName theirs in allowedClientSecretNames.',
    ],
    [
      'no target namespace',
      {},
      [{ allowedTargetNamespaces: ['shop', 'pos'] }],
      'have allowedTargetNamespaces, so spec.targetNamespace must name one of shop, pos.',
    ],
    [
      'another target namespace',
      { targetNamespace: 'kube-system' },
      [{ allowedTargetNamespaces: ['shop'] }],
      'do not list spec.targetNamespace kube-system in allowedTargetNamespaces.',
    ],
    [
      'a listed target namespace',
      { targetNamespace: 'shop' },
      [{ allowedTargetNamespaces: ['shop'] }],
      { targetNamespace: 'shop' },
    ],
  ]
  for (const [name, spec, restrictions, expected] of table) {
    test(name, () => {
      const wanted = typeof expected === 'string' ? expected : { ...REPO, ...expected }
      assert.deepEqual(outcome(spec, ...restrictions), wanted)
    })
  }

  test('a selector of target namespaces is refused, because the hub cannot check it', () => {
    const refused = restrictRepo(REPO, rulesOf({ allowedTargetNamespaceSelector: { matchLabels: { a: 'b' } } }))
    assert.match('refusal' in refused ? refused.refusal : '', /is not served/)
  })

  test('the default of the first object by name counts', () => {
    const two = [{ defaultServiceAccount: '' }, { defaultServiceAccount: 'b' }, { defaultServiceAccount: 'c' }]
    assert.deepEqual(outcome({}, ...two), { ...REPO, serviceAccount: 'b' })
  })
})

const bundle = (executor: string | undefined, ofVariant?: string) => ({
  name: 'web',
  spec: {
    placement: 'p',
    ...(executor === undefined ? {} : { executor: { namespace: 'cattle-fleet-system', name: executor } }),
    ...(ofVariant === undefined
      ? {}
      : { variants: [{ name: 'v', options: { executor: { namespace: 'cattle-fleet-system', name: ofVariant } } }] }),
  } as Parameters<typeof restrictBundles>[0][number]['spec'],
})

test('a fleet.yaml names no other ServiceAccount, nor does one of its customizations', () => {
  const rules = rulesOf({ allowedServiceAccounts: ['a'], defaultServiceAccount: 'd' })
  assert.equal(restrictBundles([bundle('a'), bundle('d', 'a'), bundle(undefined)], rules), undefined)
  for (const one of [bundle('root'), bundle('a', 'root')]) {
    assert.match(restrictBundles([bundle('a'), one], rules)!, /do not list ServiceAccount root of Bundle web/)
  }
  assert.equal(restrictBundles([bundle('root')], rulesOf({ defaultServiceAccount: 'd' })), undefined)
})

test('what one restriction allows alone, it allows beside others, and an account that none lists never passes', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd')
  const lists = fc.array(fc.array(names, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(lists, names, (all, serviceAccount) => {
      const fields = all.map((allowedServiceAccounts) => ({ allowedServiceAccounts }))
      const isRefused = 'refusal' in restrictRepo({ ...REPO, serviceAccount }, rulesOf(...fields))
      assert.equal(isRefused, !all.flat().includes(serviceAccount))
    }),
  )
})
