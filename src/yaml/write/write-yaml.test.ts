import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { makeNode, makeString } from '../node.ts'
import { nodeValue, readNodes, readYaml, readYamlDocument } from '../read/read-yaml.ts'
import { writeNode, writeNodes, writeYaml } from './write-yaml.ts'
import { YamlError } from '../yaml.ts'

// Strings with all that makes quoting hard, and not those that Go itself changes or refuses.
const character = fc.oneof(
  fc.constantFrom(...' \n\t\r:-#\'"\\[]{},&*!|>%@`?=~._+/019abyzANYon'),
  fc.constantFrom('é', '日', '😀', '\u00a0', '\u2028', '\ufeff', '\0', '\u001b'),
)
const word = fc.constantFrom('yes', 'no', 'null', '0644', '1e3', '.inf', '<<', '2001-01-01', '12:30', 'a b', 'a: b', '')
const text = fc.oneof(
  word,
  fc.string({ unit: character, maxLength: 12 }),
  fc.string({ unit: character, maxLength: 120 }),
)
// Go does not quote a key `<<`, which reads as a merge.
const key = text.filter((name) => name !== '<<')
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value

describe('writeYaml', () => {
  it('sorts keys and does not indent lists under their key', () => {
    assert.equal(writeYaml({ b: ['x', { z: 1, y: {} }], a: 'yes' }), 'a: "yes"\nb:\n- x\n- "y": {}\n  z: 1\n')
  })

  it('takes bigints, Maps and what a caller unwraps', () => {
    assert.equal(
      writeYaml(
        new Map<string, unknown>([
          ['b', 9007199254740993n],
          ['a', 1],
        ]),
      ),
      'a: 1\nb: 9007199254740993\n',
    )
    class Box {
      readonly inner: unknown
      constructor(inner: unknown) {
        this.inner = inner
      }
    }
    const unwrap = (plain: unknown): unknown => (plain instanceof Box ? plain.inner : plain)
    assert.equal(writeYaml({ a: new Box([new Box('x')]) }, { unwrap }), 'a:\n- x\n')
    assert.equal(writeYaml({ a: new Box('\u0085') }, { unwrap }), "a: ' '\n")
  })

  it('leaves out what is undefined', () => {
    assert.equal(writeYaml({ a: undefined, b: 1 }), 'b: 1\n')
  })

  it('tells floats from integers in the style of yaml.v3', () => {
    assert.equal(
      writeYaml({ a: 1_000_000, b: 1_000_000n, c: [1] }, { style: 'v3' }),
      'a: 1e+06\nb: 1000000\nc:\n  - 1\n',
    )
  })

  it('writes keys that have no order always the same', () => {
    const keys = ['a10', 'a1b', 'a2']
    const texts = [keys, keys.toReversed()].map((order) => writeYaml(Object.fromEntries(order.map((key) => [key, 1]))))
    assert.equal(texts[0], texts[1])
  })

  it('refuses what YAML cannot hold, in the words of Go', () => {
    for (const [bad, says] of [
      [NaN, 'json: unsupported value: NaN'],
      [-Infinity, 'json: unsupported value: -Inf'],
      ['\u007f', 'yaml: control characters are not allowed'],
    ] as const) {
      assert.throws(
        () => writeYaml({ a: [bad] }),
        (error: unknown) => error instanceof YamlError && error.goMessage === says,
      )
    }
  })

  it('writes what reads back as the same value', () => {
    fc.assert(
      fc.property(value, (plain) => {
        assert.deepEqual(readYamlDocument(writeYaml(plain)).value, plain)
      }),
      { numRuns: 500 },
    )
  })

  it('writes what Kustomize reads back, in the style of yaml.v3', () => {
    fc.assert(
      fc.property(value, (plain) => {
        // yaml.v3 writes a literal that starts with a tab, and cannot read it.
        fc.pre(!JSON.stringify(plain).includes('\\t'))
        assert.deepEqual(readYamlDocument(writeYaml(plain, { style: 'v3' }), { resolver: '1.2' }).value, plain)
      }),
      { numRuns: 500 },
    )
  })
})

describe('readYaml of anything', () => {
  it('gives values that write and read again, or a YamlError', () => {
    const fragments = fc.constantFrom(
      ...'a| b: |- |\n|  |: |[|]|{|}|, |? |# c\n|\'|"|&a |*a|!!str |---\n|...\n|%YAML 1.1\n|<<: |yes|0644|\t|\r\n|\\|é|😀'.split(
        '|',
      ),
      '|\n',
      '>-\n',
      '\u0085',
      '\u2028',
    )
    const soup = fc.array(fragments, { maxLength: 16 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(soup, fc.constantFrom('1.1' as const, '1.2' as const), (source, resolver) => {
        let values: unknown[]
        try {
          values = readYaml(source, { resolver }).map((document) => document.value)
        } catch (error) {
          assert.ok(error instanceof YamlError, String(error))
          return
        }
        if (JSON.stringify(values).includes('"<<"')) return
        for (const plain of values) assert.deepEqual(readYamlDocument(writeYaml(plain)).value, plain)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('writeNodes', () => {
  it('keeps comments, styles and the order of keys', () => {
    const source = "# head\nb: 'x' # line\n# foot\n\na: [1, 2]\n---\n- |\n  text\n"
    assert.equal(writeNodes(readNodes(source, { resolver: '1.2' })), source)
  })

  it('indents as it is told', () => {
    const nodes = readNodes('a:\n  - b:\n      - c\n    d: |\n      e\n', { resolver: '1.2' })
    const wide = 'a:\n    - b:\n        - c\n      d: |\n        e\n'
    assert.equal(writeNodes(nodes, { indent: 4, sequences: 'wide' }), wide)
    assert.equal(writeNodes(nodes), 'a:\n- b:\n  - c\n  d: |\n    e\n')
  })

  it('writes trees that were made by hand', () => {
    const mapping = makeNode('mapping', {
      content: [makeString('a'), makeString('yes\nno\n'), makeString('b'), makeNode('scalar', { value: '1' })],
    })
    assert.equal(writeNode(mapping), 'a: |\n  yes\n  no\nb: 1\n')
    assert.equal(writeNode(makeNode('scalar', { tag: '!!str', value: '1' })), '"1"\n')
    assert.equal(writeNode(makeNode('scalar', { tag: '!!int', value: 'x' })), '!!int x\n')
  })

  it('writes what reads back as the same value', () => {
    fc.assert(
      fc.property(value, fc.constantFrom('compact' as const, 'wide' as const), (plain, sequences) => {
        const nodes = readNodes(writeYaml(plain), { resolver: '1.2' })
        const again = readNodes(writeNodes(nodes, { sequences }), { resolver: '1.2' })
        assert.deepEqual(nodeValue(again[0]!, { resolver: '1.2' }), nodeValue(nodes[0]!, { resolver: '1.2' }))
      }),
      { numRuns: 300 },
    )
  })
})
