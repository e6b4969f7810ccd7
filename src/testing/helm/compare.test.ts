import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareOutputs } from './compare.ts'

const run = (stdout: string, failed = false) => ({ stdout, stderr: failed ? `Error: ${stdout}` : '', failed })
const kindOf = (first: string, second: string, mine: string) => compareOutputs(run(first), run(second), run(mine)).kind
const pem = (...lines: string[]) => `---\na: |\n  -----BEGIN X-----\n  ${lines.join('\n  ')}\n  -----END X-----\nb: 1\n`

describe('outputs of helm and ours', () => {
  it('are masked only where two runs of helm differ', () => {
    assert.equal(kindOf('---\na: 1\n', '---\na: 1\n', '---\na: 1\n'), 'identical')
    assert.equal(kindOf('---\na: 1\n', '---\na: 1\n', '---\na: 2\n'), 'different')
    assert.equal(kindOf('---\na: x\nb: 1\n', '---\na: y\nb: 1\n', '---\na: z\nb: 1\n'), 'random masked')
    assert.equal(kindOf('---\na: x\nb: 1\n', '---\na: y\nb: 1\n', '---\na: z\nb: 2\n'), 'different')
  })

  it('may hold a random certificate of another length, but none where helm always has the same', () => {
    assert.equal(kindOf(pem('x1', 'same'), pem('y1', 'same'), pem('z', 'moved', 'on')), 'random masked')
    assert.equal(kindOf(pem('x1', 'same'), pem('x1', 'same'), pem('z1', 'same')), 'different')
    assert.equal(kindOf(pem('x1', 'same'), pem('y1', 'same'), pem('z').replace('b: 1', 'b: 2')), 'different')
  })

  it('fail together, with the same words', () => {
    const told = (wanted: string, got: string) =>
      compareOutputs(run(wanted, true), run(wanted, true), run(got, true)).kind
    assert.equal(told('no such value', 'no such value'), 'error on both')
    assert.equal(told('no such value', 'no such thing'), 'errors differ')
    assert.equal(compareOutputs(run('', true), run('', true), run('')).kind, 'one errors')
  })

  it('fail with the same words in any order only where helm has no order itself', () => {
    const told = (first: string, second: string, mine: string) =>
      compareOutputs(run(first, true), run(second, true), run(mine, true)).kind
    assert.equal(told('one of c,a,b is needed', 'one of b,c,a is needed', 'one of a,b,c is needed'), 'error on both')
    assert.equal(told('one of c,a,b is needed', 'one of c,a,b is needed', 'one of a,b,c is needed'), 'errors differ')
    assert.equal(told('one of c,a,b is needed', 'one of b,c,a is needed', 'one of a,b,d is needed'), 'errors differ')
    assert.equal(told('not:\nk: x\nv: 1', 'not:\nk: y\nv: 1', 'not:\nk: z\nv: 1'), 'error on both')
    assert.equal(told('not:\nk: x\nv: 1', 'not:\nk: y\nv: 1', 'not:\nk: z\nv: 2'), 'errors differ')
  })
})
