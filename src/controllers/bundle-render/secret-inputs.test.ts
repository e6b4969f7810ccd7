import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOfJson } from '../../core/crypto/digest.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { hideInputs, markedInputs, secretInput } from './secret-inputs.ts'

const stored = (data: Record<string, string>, labels: Record<string, string> = { 'flotilla.dev/input': 'allowed' }) =>
  build(SecretKind, 'ns/db', { data }, { labels })
const read = (found: SecretKind | undefined, key?: string) =>
  secretInput(buildBundle('ns/app'), 'db', { name: 'db', key }, { secret: async () => found })

describe('inputs from Secrets of the hub', () => {
  it('are texts: one, or all of them by key', async () => {
    const found = stored({ user: 'c2hvcA==', pin: 'MDEyMw==' })
    assert.deepEqual(await read(found), { user: 'shop', pin: '0123' })
    assert.equal(await read(found, 'pin'), '0123')
  })

  const refused: [string, SecretKind | undefined, string | undefined, string][] = [
    ['that are not there', undefined, undefined, 'Input db is Secret db, which does not exist.'],
    ['without a key', stored({}), 'pin', 'Input db is key pin of Secret db, and that is not there.'],
    [
      'of a name everything has',
      stored({}),
      'toString',
      'Input db is key toString of Secret db, and that is not there.',
    ],
    [
      'without the label',
      stored({ pin: 'MDEyMw==' }, {}),
      'pin',
      'Input db is Secret db, which is not given to Bundles; label it flotilla.dev/input=allowed if it should be.',
    ],
    ['that are no text', stored({ pin: '/////w==' }), 'pin', 'The key pin of Secret db is not text.'],
  ]
  for (const [what, found, key, message] of refused) {
    it(`are refused ${what}`, async () => {
      await assert.rejects(read(found, key), (caught) => {
        assert.ok(caught instanceof Waiting || caught instanceof Stalled)
        assert.equal(caught.message, message)
        return true
      })
    })
  }

  it('count in the digest of a recipe by a code that cannot be guessed', async () => {
    const bundle = buildBundle('ns/app', {
      inputs: [
        { name: 'db', secret: { name: 'db' } },
        { name: 'f', file: 'f' },
      ],
    })
    const marked = (value: string, key = 1) => {
      const ports = { valuesKeyOf: async () => new Secret(new Uint8Array(32).fill(key)) }
      return markedInputs(bundle, { db: { value }, f: { file: 'f' } }, ports)
    }
    const one = await marked('hunter2')
    assert.deepEqual(one, await marked('hunter2'))
    assert.notDeepEqual(one, await marked('hunter3'))
    assert.notDeepEqual(one, await marked('hunter2', 2))
    assert.deepEqual(one['f'], { file: 'f' })
    assert.ok(!JSON.stringify(one).includes('hunter2'))
    assert.ok(!JSON.stringify(one).includes(digestOfJson({ value: 'hunter2' }).slice(7)))
  })

  it('are taken out of what a template says about its mistake', () => {
    const bundle = buildBundle('ns/app', {
      inputs: [
        { name: 'db', secret: { name: 'db' } },
        { name: 'c', file: 'f' },
      ],
    })
    const failed = (message: string) => ({
      when: {},
      clusters: ['a'],
      result: { ok: false as const, problems: [{ message, file: 'f.yaml' }] },
    })
    const inputs = { db: { value: { password: 'hunter2', pem: 'first line\nsecond line' } }, c: { value: 'plain' } }
    const said = 'cannot unmarshal `hunter2` (aHVudGVyMg==) at second line, plain'
    const [shown] = hideInputs(bundle, { inputs }, [failed(said)])
    assert.deepEqual(shown, failed('cannot unmarshal `[sealed]` ([sealed]) at [sealed], plain'))
    const untouched = [failed(said)]
    assert.equal(hideInputs(buildBundle('ns/app'), { inputs }, untouched), untouched)
  })

  it('cost nothing where there are none', async () => {
    const inputs = { f: { file: 'f' } }
    const marked = await markedInputs(buildBundle('ns/app'), inputs, {
      valuesKeyOf: async () => assert.fail('a key was made'),
    })
    assert.equal(marked, inputs)
  })
})
