import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatImage, ImageReferenceError, parseImage, withVersion } from './image-reference.ts'

const DIGEST = `sha256:${'0a'.repeat(32)}`

test('a reference has a registry when its first part looks like a host', () => {
  for (const [image, registry, repository, tag] of [
    ['nginx', '', 'nginx', ''],
    ['nginx:1.25', '', 'nginx', '1.25'],
    ['team/app', '', 'team/app', ''],
    ['localhost/app', 'localhost', 'app', ''],
    ['registry.example.com:5000/team/app:v1', 'registry.example.com:5000', 'team/app', 'v1'],
  ] as const) {
    assert.deepEqual(parseImage(image), { registry, repository, tag, digest: '' }, image)
  }
  assert.equal(parseImage(`app@${DIGEST}`).digest, DIGEST)
})

test('a reference with tag and digest loses its digest, as in Karmada', () => {
  assert.equal(formatImage(parseImage(`app:v1@${DIGEST}`)), 'app:v1')
})

test('what is no reference is refused', () => {
  for (const image of [
    '',
    'bad image',
    'App:v1',
    'app:',
    'example.com/',
    'app@sha256:00',
    `app@md5:${'0'.repeat(32)}`,
  ]) {
    assert.throws(() => parseImage(image), ImageReferenceError, image)
  }
  assert.throws(() => parseImage(`a${'/a'.repeat(5000)}`), /longer than/)
})

test('a version is a tag or a digest; any other text changes nothing', () => {
  const image = parseImage('app:v1')
  assert.equal(formatImage(withVersion(image, 'v2')), 'app:v2')
  assert.equal(formatImage(withVersion(image, DIGEST)), `app@${DIGEST}`)
  assert.equal(formatImage(withVersion(image, 'v1:v2')), 'app:v1')
})

test('property: the text of a reference without a digest stays as it is', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), fc.option(word), (path, tag) => {
      const image = tag === null ? path.join('/') : `${path.join('/')}:${tag}`
      assert.equal(formatImage(parseImage(image)), image)
    }),
  )
})
