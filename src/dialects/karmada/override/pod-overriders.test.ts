import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverrideError, patchObject } from './patch-document.ts'
import { commandOperations, imageOperations, labelOperations } from './pod-overriders.ts'

const deployment = (containers: unknown, labels?: unknown) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...(labels !== undefined && { labels }) },
  spec: { template: { spec: { containers } } },
})
const WEB = deployment([
  { name: 'main', image: 'nginx:1.25', args: ['a', 'b'] },
  { name: 'side', image: 'team/side' },
])
const containersOf = (object: Readonly<Record<string, unknown>>) =>
  (object as unknown as ReturnType<typeof deployment>).spec.template.spec.containers

test('an image overrider changes each container, or the one of the predicate', () => {
  const registry = { component: 'Registry', operator: 'add', value: 'mirror.example.com' }
  const paths = imageOperations(WEB, registry).map(({ path, value }) => [path, value])
  assert.deepEqual(paths, [
    ['/spec/template/spec/containers/0/image', 'mirror.example.com/nginx:1.25'],
    ['/spec/template/spec/containers/1/image', 'mirror.example.com/team/side'],
  ])
  const path = '/spec/template/spec/containers/1/image'
  const one = imageOperations(WEB, { component: 'Tag', operator: 'replace', value: 'v2', predicate: { path } })
  assert.deepEqual(one, [{ op: 'replace', path, value: 'team/side:v2' }])
})

test('an image overrider says what it cannot change', () => {
  const tag = { component: 'Tag', operator: 'replace', value: 'v2' }
  const refused = (object: Readonly<Record<string, unknown>>, path: string | undefined, what: RegExp) =>
    assert.throws(() => imageOperations(object, { ...tag, ...(path !== undefined && { predicate: { path } }) }), what)
  refused(deployment([{ name: 'main' }]), undefined, /image "": repository name must have/)
  refused(deployment('none'), undefined, /containers is not a list/)
  refused(deployment([7]), undefined, /containers\/0 is not an object/)
  refused(WEB, '/spec/image', /the field is missing or is not a string/)
  refused(WEB, '/spec/template/spec/containers/x/image', /"x" is not an index/)
  assert.throws(() => imageOperations(WEB, { ...tag, component: 'Owner' }), OverrideError)
})

test('commands and arguments are changed in the containers with the name', () => {
  const added = commandOperations(WEB, 'args', { containerName: 'main', operator: 'add', value: ['c'] })
  assert.deepEqual(added, [{ op: 'replace', path: '/spec/template/spec/containers/0/args', value: ['a', 'b', 'c'] }])
  const removed = commandOperations(WEB, 'args', { containerName: 'main', operator: 'remove', value: ['a', 'b'] })
  assert.deepEqual(removed[0]!.value, [])
  const absent = commandOperations(WEB, 'command', { containerName: 'side', operator: 'add', value: ['run'] })
  assert.deepEqual(absent, [{ op: 'add', path: '/spec/template/spec/containers/1/command', value: ['run'] }])
  assert.deepEqual(commandOperations(WEB, 'args', { containerName: 'other', operator: 'add', value: ['c'] }), [])
  assert.deepEqual(commandOperations({ kind: 'CronJob' }, 'args', { containerName: 'main', operator: 'add' }), [])
})

test('labels are added; only present ones are replaced or removed', () => {
  const web = deployment([], { app: 'web' })
  const change = (object: Readonly<Record<string, unknown>>, operator: string, value: Record<string, string>) =>
    (patchObject(object, labelOperations(object, 'labels', { operator, value })) as unknown as typeof web).metadata
  assert.deepEqual(change(web, 'add', { 'example.com/tier': 'gold' }).labels, {
    app: 'web',
    'example.com/tier': 'gold',
  })
  assert.deepEqual(change(deployment([]), 'add', { app: 'web' }).labels, { app: 'web' })
  assert.deepEqual(change(web, 'replace', { app: 'api', tier: 'gold' }).labels, { app: 'api' })
  assert.deepEqual(change(web, 'remove', { app: '', tier: '' }).labels, {})
  assert.deepEqual(change(deployment([], { app: 7 }), 'add', { tier: 'gold' }).labels, { tier: 'gold' })
})

test('a patch that takes the kind away is refused, and so is an unknown operator', () => {
  assert.throws(() => patchObject(WEB, [{ op: 'remove', path: '/kind' }]), /has no kind after the override/)
  assert.throws(() => patchObject(WEB, [{ op: 'move', path: '/kind' }]), /unknown operator "move"/)
  assert.throws(() => patchObject(WEB, [{ op: 'replace', path: '/spec/none', value: 1 }]), /nothing to replace/)
  assert.equal(containersOf(patchObject(WEB, [])), WEB.spec.template.spec.containers)
})
