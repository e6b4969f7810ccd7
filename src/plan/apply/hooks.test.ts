import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { ARGO_SYNC_OPTIONS } from '../objects/foreign-annotations.ts'
import { ARGO_HELM_HOOKS, ARGO_HOOKS, HELM_HOOKS, hookOrder, OWN_HOOKS, readHook, sortHooks } from './hooks.ts'
import { objectOptions } from '../objects/object-options.ts'

const job = (annotations: Record<string, string>, name = 'migrate', kind = 'Job'): UnknownObject => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'v1',
  kind,
  metadata: { name, namespace: 'shop', annotations },
})
const read = (annotations: Record<string, string>, options: BundleOptions = {}) => readHook(options, job(annotations))
const onOf = (annotations: Record<string, string>, options: BundleOptions = {}) => {
  const found = read(annotations, options)
  return found.kind === 'Hook' ? found.hook.on.join(' ') : found.kind
}
const ARGO: BundleOptions = { dialect: 'Argo' }
const PRE = 'pre-install pre-upgrade pre-rollback'
const POST = 'post-install post-upgrade post-rollback'

describe('hooks by annotation', () => {
  const table: readonly (readonly [string, Record<string, string>, BundleOptions, string])[] = [
    ['nothing', {}, {}, 'Object'],
    ['our own', { 'flotilla.dev/hook': 'pre-install, failure' }, {}, 'pre-install failure'],
    ['our short words', { 'flotilla.dev/hook': 'pre,post-delete' }, {}, `${PRE} post-delete`],
    ['Helm', { 'helm.sh/hook': 'post-upgrade,Pre-Install' }, {}, 'pre-install post-upgrade'],
    ['Helm tests', { 'helm.sh/hook': 'test' }, {}, 'Skip'],
    ['Helm, also a test', { 'helm.sh/hook': 'post-install,test' }, {}, 'post-install'],
    ['CRDs of Helm 2', { 'helm.sh/hook': 'crd-install' }, {}, 'Object'],
    ['Helm as Argo CD reads it', { 'helm.sh/hook': 'pre-install' }, ARGO, PRE],
    ['Helm rollback in Argo CD', { 'helm.sh/hook': 'pre-rollback' }, ARGO, 'Skip'],
    ['PreSync', { 'argocd.argoproj.io/hook': 'PreSync' }, ARGO, PRE],
    ['Sync', { 'argocd.argoproj.io/hook': 'Sync' }, ARGO, 'during'],
    ['PostSync', { 'argocd.argoproj.io/hook': 'PostSync' }, ARGO, POST],
    ['SyncFail', { 'argocd.argoproj.io/hook': 'SyncFail' }, ARGO, 'failure'],
    ['PreDelete, PostDelete', { 'argocd.argoproj.io/hook': 'PreDelete,PostDelete' }, ARGO, 'pre-delete post-delete'],
    ['Skip', { 'argocd.argoproj.io/hook': 'Skip' }, ARGO, 'Skip'],
    ['Argo CD before Helm', { 'argocd.argoproj.io/hook': 'PostSync', 'helm.sh/hook': 'pre-install' }, ARGO, POST],
    ['Argo CD where it was not asked for', { 'argocd.argoproj.io/hook': 'PreSync' }, {}, 'Object'],
    ['ours before Helm', { 'flotilla.dev/hook': 'post', 'helm.sh/hook': 'pre-install' }, {}, POST],
    ['none are wanted', { 'helm.sh/hook': 'pre-install' }, { hooks: 'Skip' }, 'Skip'],
  ]
  for (const [what, annotations, options, expected] of table) {
    it(what, () => assert.equal(onOf(annotations, options), expected))
  }

  it('knows every word of its tables', () => {
    const every = (words: Readonly<Record<string, unknown>>, on: string, options: BundleOptions) => {
      for (const word of Object.keys(words)) assert.notEqual(onOf({ [on]: word }, options), 'Wrong', word)
    }
    every(OWN_HOOKS, 'flotilla.dev/hook', {})
    every(HELM_HOOKS, 'helm.sh/hook', {})
    every(ARGO_HOOKS, 'argocd.argoproj.io/hook', ARGO)
    every(ARGO_HELM_HOOKS, 'helm.sh/hook', ARGO)
  })

  it('reads weight, delete policy and deadline in each style', () => {
    const rules = (annotations: Record<string, string>, options: BundleOptions = {}) => {
      const found = read(annotations, options)
      assert.equal(found.kind, 'Hook')
      const { on: _on, ...rest } = found.hook
      return rest
    }
    assert.deepEqual(rules({ 'helm.sh/hook': 'pre-install' }), { weight: 0, delete: ['before-creation'] })
    assert.deepEqual(
      rules({
        'helm.sh/hook': 'pre-install',
        'helm.sh/hook-weight': '-5',
        'helm.sh/hook-delete-policy': 'hook-failed, hook-succeeded',
        'flotilla.dev/hook-deadline': '90s',
      }),
      { weight: -5, delete: ['succeeded', 'failed'], deadlineSeconds: 90 },
    )
    assert.deepEqual(rules({ 'helm.sh/hook': 'pre-install', 'helm.sh/hook-weight': 'x' }).weight, 0)
    assert.deepEqual(
      rules(
        {
          'argocd.argoproj.io/hook': 'PostSync',
          'argocd.argoproj.io/sync-wave': '7',
          'argocd.argoproj.io/hook-delete-policy': 'HookSucceeded,BeforeHookCreation',
        },
        ARGO,
      ),
      { weight: 7, delete: ['before-creation', 'succeeded'] },
    )
    assert.deepEqual(
      rules({ 'flotilla.dev/hook': 'pre', 'flotilla.dev/hook-weight': '3', 'flotilla.dev/hook-delete': 'succeeded' }),
      { weight: 3, delete: ['succeeded'] },
    )
  })

  it('says what is wrong and what to write', () => {
    const said = (annotations: Record<string, string>) => {
      const sorted = sortHooks({}, [job(annotations)])
      return sorted.ok ? undefined : sorted.problem
    }
    assert.match(
      said({ 'helm.sh/hook': 'pre-instal' }) ?? '',
      /^Job shop\/migrate: annotation helm\.sh\/hook is "pre-instal"; write some of pre-install, post-install, /,
    )
    assert.equal(
      said({ 'flotilla.dev/hook': 'pre', 'flotilla.dev/hook-weight': 'first' }),
      'Job shop/migrate: annotation flotilla.dev/hook-weight is "first"; write a whole number such as "-1" or "10"',
    )
    assert.equal(
      said({ 'flotilla.dev/hook': 'pre', 'flotilla.dev/hook-deadline': 'soon' }),
      'Job shop/migrate: annotation flotilla.dev/hook-deadline is "soon"; write a duration of a second or more, such as 10m',
    )
    assert.match(
      said({ 'flotilla.dev/hook': 'pre', 'flotilla.dev/hook-delete': 'x' }) ?? '',
      /before-creation, succeeded/,
    )
  })

  it('leaves out what is skipped, and marks what is a hook', () => {
    const plain = job({}, 'web')
    const hook = job({ 'helm.sh/hook': 'pre-install' })
    const sorted = sortHooks({}, [plain, hook, job({ 'helm.sh/hook': 'test' }, 'smoke')])
    assert.ok(sorted.ok)
    assert.deepEqual(sorted.objects, [plain, hook])
    assert.deepEqual([...sorted.hooks.keys()], ['batch/Job/shop/migrate'])
  })
})

describe('the order of hooks', () => {
  it('is weight, then what others need, then name', () => {
    const hook = (name: string, weight: number, kind = 'Job') => ({
      apiVersion: 'v1',
      kind,
      name,
      hook: { on: ['pre-install' as const], weight, delete: [] },
    })
    const hooks = [hook('b', 0), hook('a', 0), hook('z', -1), hook('y', 0, 'ServiceAccount'), hook('late', 2)]
    assert.deepEqual(
      hookOrder(hooks, 'pre-install').map(({ name }) => name),
      ['z', 'y', 'a', 'b', 'late'],
    )
    assert.deepEqual(hookOrder(hooks, 'post-install'), [])
  })
})

describe('annotations of others on objects', () => {
  const optionsFor = (annotations: Record<string, string>, options: BundleOptions = {}) => {
    const found = objectOptions(options, job(annotations))
    assert.ok(found.ok)
    return found.options
  }
  it('of Argo CD count where they are asked for', () => {
    const annotations = {
      'argocd.argoproj.io/sync-wave': '-2',
      'argocd.argoproj.io/sync-options': 'PruneLast=true, Delete=false,Force=true,Validate=false',
    }
    const { wave, prune, delete: onDelete, immutable } = optionsFor(annotations, ARGO)
    assert.deepEqual([wave, prune, onDelete, immutable], [-2, 'Last', 'Orphan', 'Recreate'])
    assert.equal(optionsFor(annotations).wave, 0)
    assert.equal(optionsFor({ 'argocd.argoproj.io/sync-wave': 'x' }, ARGO).wave, 0)
    for (const option of Object.keys(ARGO_SYNC_OPTIONS)) {
      const plain = JSON.stringify(optionsFor({}, ARGO))
      const same = option === 'ServerSideApply=true'
      const said = JSON.stringify(optionsFor({ 'argocd.argoproj.io/sync-options': option }, ARGO))
      assert.equal(said === plain, same, option)
    }
  })
  it('of Helm keep an object, and our own win', () => {
    assert.equal(optionsFor({ 'helm.sh/resource-policy': 'keep' }).delete, 'Orphan')
    assert.equal(optionsFor({ 'helm.sh/resource-policy': 'keep', 'flotilla.dev/delete': 'Delete' }).delete, 'Delete')
  })
})
