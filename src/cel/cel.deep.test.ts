// Our CEL against a real kube-apiserver: the fixture, and expressions generated from a seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createUndiciTransport } from '../client/undici-transport.ts'
import { Secret } from '../core/secret.ts'
import { askKubernetes, ORACLE_OBJECT } from '../testing/control-plane/cel-oracle.ts'
import type { OracleAnswer } from '../testing/control-plane/cel-oracle.ts'
import { startControlPlane } from '../testing/control-plane/control-plane.ts'
import { CASES, FAILURES } from './cases.fixture.ts'
import { celEnvironment, compileCel } from './cel.ts'
import { DYNAMIC } from './declare-schema.ts'

const environment = celEnvironment({ object: DYNAMIC })

function ours(source: string): OracleAnswer {
  const program = compileCel(`'%s'.format([${source}])`, environment)
  if (!program.ok) return { kind: 'issue', text: program.problems[0]!.message }
  const result = program.evaluate({ object: ORACLE_OBJECT })
  if (!result.ok) return { kind: 'error', text: result.error }
  return { kind: 'value', text: typeof result.value === 'string' ? result.value.trim() : 'not a text' }
}

// A refusal is compared as one: a kube-apiserver evaluates constants when a policy is made, and says what Go says when
// a value has the wrong type. The sentences that people see are the fixture's.
function same(theirs: OracleAnswer, mine: OracleAnswer): boolean {
  if (theirs.kind === 'value' || mine.kind === 'value') return theirs.kind === mine.kind && theirs.text === mine.text
  return true
}

function sameFailure(theirs: OracleAnswer, wanted: string): boolean {
  return theirs.kind === 'error' ? theirs.text === wanted : theirs.text.endsWith(wanted)
}

const leaf = fc
  .constantFrom(
    '0 1 2 -1 7 9223372036854775807 1u 3u 1.5 -0.5 2.0 "" "a" "web" "a,b" true false null [] [1,2,3] ["a","b"] {"a":1} object.name',
  )
  .chain((text) => fc.constantFrom(...text.split(' ')))
const dynamic = fc.constantFrom(
  'object.replicas',
  'object.ratio',
  'object.tags',
  'object.labels',
  'object.missing',
  'object.ports',
)

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    dynamic,
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in'),
        tie('expression'),
      )
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('all', 'exists', 'exists_one', 'filter', 'map'), tie('expression'))
      .map(([a, macro, b]) => `${a}.${macro}(x, ${b})`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `${a}[${b}]`),
    fc
      .tuple(fc.constantFrom('size', 'string', 'int', 'double', 'type', 'dyn', '!', '-'), tie('expression'))
      .map(([fn, a]) => `${fn}(${a})`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom(
          'size()',
          'contains("a")',
          'split(",")',
          'sum()',
          'max()',
          'sort()',
          'distinct()',
          'upperAscii()',
          'indexOf("a")',
        ),
      )
      .map(([a, call]) => `${a}.${call}`),
  ),
}))

test('generated expressions mean the same to a kube-apiserver', async () => {
  await using plane = await startControlPlane()
  const { transport, close } = createUndiciTransport({
    server: plane.url,
    ca: plane.ca,
    cert: plane.adminCert,
    key: new Secret(plane.adminKey),
  })
  const seed = Number(process.env['FLOTILLA_SEED'] ?? 1)
  const generated = fc.sample(expression, { numRuns: 600, seed }).filter((source) => source.length < 120)
  // `format`, through which values are seen, refuses literals with optional parts.
  const cases = CASES.map(([source]) => source).filter((source) => !/(?:[{,]|^\[)\s*\?/.test(source))
  const sources = [...new Set([...cases, ...FAILURES.map(([source]) => source), ...generated])]
  const answers = await askKubernetes(transport, sources)
  const wanted = new Map(FAILURES)
  const different = sources.flatMap((source, index) => {
    const mine = ours(source)
    const failure = wanted.get(source)
    if (failure !== undefined) {
      return sameFailure(answers[index]!, failure) ? [] : [{ source, theirs: answers[index]!, mine }]
    }
    return same(answers[index]!, mine) ? [] : [{ source, theirs: answers[index]!, mine }]
  })
  await close()
  assert.deepEqual(different, [], `seed ${seed}`)
})
