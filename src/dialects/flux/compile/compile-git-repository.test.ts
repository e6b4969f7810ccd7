import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { findingText } from '../../read-fields.ts'
import { GitRepository } from '../kinds.ts'
import { fluxRevision, readGitRepository, sourceOf } from './compile-git-repository.ts'

const repository = (spec: JsonObject, annotations: Record<string, string> = {}) =>
  build(
    GitRepository,
    'flux-system/fleet',
    { spec: { interval: '5m', url: 'https://git/x', ...spec } },
    { annotations },
  )

const source = (spec: JsonObject, annotations?: Record<string, string>) => {
  const object = repository(spec, annotations)
  return sourceOf(object, readGitRepository(object).spec).object
}

const problems = (spec: JsonObject) => readGitRepository(repository(spec)).findings.map(findingText)

test('of several references one counts, and the default branch is master', () => {
  const ref = (said?: JsonObject) => (source(said ? { ref: said } : {}).spec as { git: { ref: unknown } }).git.ref
  assert.deepEqual(ref(), { branch: 'master' })
  assert.deepEqual(ref({ branch: 'main' }), { branch: 'main' })
  assert.deepEqual(ref({ branch: 'main', semver: '>=1.0.0' }), { semver: '>=1.0.0' })
  assert.deepEqual(ref({ semver: '>=1.0.0', tag: 'v1' }), { tag: 'v1' })
  const commit = 'a'.repeat(40)
  assert.deepEqual(ref({ tag: 'v1', commit }), { commit })
  assert.deepEqual(ref({ commit, name: 'refs/tags/v1^{}' }), { name: 'refs/tags/v1' })
})

test('a revision has the form that Flux gives it', () => {
  assert.equal(fluxRevision({ branch: 'main' }, 'main@sha1:abc'), 'main@sha1:abc')
  assert.equal(fluxRevision({ commit: 'abc' }, 'sha1:abc'), 'sha1:abc')
  assert.equal(fluxRevision({ commit: 'abc', branch: 'main' }, 'sha1:abc'), 'main@sha1:abc')
  assert.equal(fluxRevision({ name: 'refs/pull/1/head' }, 'refs/pull/1/head@sha1:abc'), 'refs/pull/1/head@sha1:abc')
})

test('the Source has the paths, the Secret and the times of the GitRepository', () => {
  const made = source(
    { sparseCheckout: ['./a/', 'b/c'], secretRef: { name: 'git' }, interval: '1s', timeout: '20s', suspend: true },
    { 'reconcile.fluxcd.io/requestedAt': 'now', 'flotilla.dev/secrets': 'Allow', other: 'x' },
  )
  const { git: _git, ...rest } = made.spec as JsonObject
  assert.deepEqual(rest, { paths: ['a', 'b/c'], credentials: 'git', interval: '5s', timeout: '20s', suspend: true })
  const { 'flotilla.dev/compiled': _digest, ...annotations } = made.metadata.annotations!
  assert.deepEqual(annotations, { 'flotilla.dev/poll': 'now', 'flotilla.dev/secrets': 'Allow' })
  assert.equal(made.metadata.name, 'gitrepository-fleet')
  assert.equal((source({ sparseCheckout: ['.', 'a'] }).spec as JsonObject)['paths'], undefined)
})

test('what is not served is refused, and an unknown field is named', () => {
  assert.deepEqual(problems({}), [])
  assert.deepEqual(problems({ provider: 'generic' }), [])
  assert.match(problems({ provider: 'azure' })[0]!, /^spec\.provider is "azure", which is not served/)
  assert.match(problems({ provider: 'github' })[0]!, /^spec\.secretRef with the keys of a GitHub App is required/)
  assert.deepEqual(problems({ provider: 'github', secretRef: { name: 'app' } }), [])
  assert.match(problems({ verify: { mode: 'HEAD' } })[0]!, /^spec\.verify\.secretRef\.name must name a Secret/)
  const secretRef = { name: 'keys' }
  assert.match(problems({ verify: { mode: 'All', secretRef } })[0]!, /^spec\.verify\.mode is "All"; use HEAD, Tag or/)
  const tag =
    /^spec\.verify\.mode needs a tag: cannot verify tag object's signature if a tag reference is not specified/
  assert.match(problems({ verify: { mode: 'Tag', secretRef } })[0]!, tag)
  assert.match(problems({ verify: { mode: 'TagAndHEAD', secretRef }, ref: { branch: 'main' } })[0]!, tag)
  assert.deepEqual(problems({ verify: { mode: 'TagAndHEAD', secretRef }, ref: { tag: 'v1' } }), [])
  assert.match(problems({ interval: 'soon' })[0]!, /^spec\.interval is "soon"; write a duration/)
  assert.match(problems({ sparsecheckouts: [] })[0]!, /did you mean "sparseCheckout"/)
})

test('submodules, signatures and the proxy are those of the Source', () => {
  const git = (spec: JsonObject) => (source(spec).spec as { git: JsonObject }).git
  assert.equal(git({})['submodules'], 'Ignore', 'Flux leaves the directories of submodules empty')
  assert.equal(git({ recurseSubmodules: true })['submodules'], 'Fetch')
  const verify = (mode: string | undefined, ref: JsonObject = { tag: 'v1' }) =>
    git({ ref, verify: { ...(mode === undefined ? {} : { mode }), secretRef: { name: 'keys' } } })['verify']
  assert.deepEqual(verify('HEAD'), { mode: 'Commit', keys: 'keys' })
  assert.deepEqual(verify('head'), { mode: 'Commit', keys: 'keys' })
  assert.deepEqual(verify(undefined), { mode: 'Commit', keys: 'keys' })
  assert.deepEqual(verify('Tag'), { mode: 'Tag', keys: 'keys' })
  assert.deepEqual(verify('TagAndHEAD'), { mode: 'TagAndCommit', keys: 'keys' })
  assert.deepEqual(verify('Tag', { name: 'refs/tags/v1' }), { mode: 'Tag', keys: 'keys' })
  assert.equal(git({})['verify'], undefined)
  assert.equal((source({ proxySecretRef: { name: 'proxy' } }).spec as JsonObject)['proxy'], 'proxy')
})
