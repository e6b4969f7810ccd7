import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Condition } from '../../kinds/meta.ts'
import type { ExistingRelease } from './decide-release.ts'
import { coversClusters, hasSameContent, isReleased, releaseContent } from './release-content.ts'
import type { SelectedCluster } from './release-content.ts'

const [one, two] = [digestOf('one'), digestOf('two')]
const plain: ExistingRelease = { name: 'app-g2', generation: 2, set: one, placement: 'p' }
const varied: ExistingRelease = {
  ...plain,
  variants: [
    { when: { 'labels.env': 'dev' }, set: one },
    { when: { 'labels.env': 'prod' }, set: two },
  ],
}
const cluster = (env: string, assigned?: SelectedCluster['assigned']): SelectedCluster => ({
  inputs: { name: env, labels: { env }, annotations: {}, claims: {}, values: {} },
  ...(assigned ? { assigned } : {}),
})

test('content that reads nothing of a cluster is one set; other content keeps its variants', () => {
  assert.deepEqual(releaseContent([{ when: {}, set: one }]), { set: one })
  assert.deepEqual(releaseContent(varied.variants!), { set: one, variants: varied.variants })
  const absent = [{ when: {}, absent: ['labels.env'], set: one }]
  assert.deepEqual(releaseContent(absent), { set: one, variants: absent })
  const failing = [{ when: { 'labels.env': 'x' }, problem: 'broken' }, ...varied.variants!]
  assert.equal(releaseContent(failing).set, one, 'a variant that could not be rendered has no set')
})

test('a Release covers clusters that have content in it, and whose documents do not have other content under its generation', () => {
  assert.equal(coversClusters(varied, [cluster('dev'), cluster('prod')]), true)
  assert.equal(coversClusters(varied, [cluster('test')]), false)
  assert.equal(coversClusters(varied, [cluster('dev', { generation: 2, set: two })]), false)
  assert.equal(coversClusters(varied, [cluster('dev', { generation: 1, set: two })]), true)
})

test('the same content is compared for the selected clusters, and as it is without any', () => {
  assert.equal(hasSameContent(varied, { set: one }, [cluster('dev')]), true)
  assert.equal(hasSameContent(varied, { set: one }, [cluster('dev'), cluster('prod')]), false)
  assert.equal(hasSameContent(varied, { set: one }, []), false)
  assert.equal(hasSameContent(plain, { set: one }, []), true)
})

test('a Bundle is released when its newest Release is from the same recipe, or from its generation before recipes', () => {
  const rendered: Condition = {
    type: 'Rendered',
    status: 'True',
    reason: 'Rendered',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 4,
  }
  const bundle = (status: object) => ({ metadata: { name: 'app', generation: 4 }, status })
  const recipe = digestOf('recipe')
  assert.equal(isReleased(bundle({ release: 'app-g2', recipe }), rendered, plain, recipe), true)
  assert.equal(isReleased(bundle({ release: 'app-g2', recipe }), rendered, plain, digestOf('edited')), false)
  assert.equal(isReleased(bundle({ release: 'app-g1', recipe }), rendered, plain, recipe), false)
  assert.equal(isReleased(bundle({ release: 'app-g2', recipe }), undefined, plain, recipe), false)
  assert.equal(isReleased(bundle({ release: 'app-g2' }), rendered, plain, recipe), true)
  assert.equal(isReleased(bundle({ release: 'app-g2' }), { ...rendered, observedGeneration: 3 }, plain, recipe), false)
})
