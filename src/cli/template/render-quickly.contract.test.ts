// What a render may take in the command's own thread before it is left to one that can be ended.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { renderQuickly } from './render-quickly.ts'

const PLENTY = { timeMs: 60_000, memoryMiB: 2048 }

describe('renderQuickly', () => {
  let dir = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'quick-render-'))
    mkdirSync(join(dir, 'templates'))
    writeFileSync(join(dir, 'Chart.yaml'), 'apiVersion: v2\nname: c\nversion: 1.0.0\n')
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  function render(template: string, budget = PLENTY): ReturnType<typeof renderQuickly> {
    writeFileSync(join(dir, 'templates/a.yaml'), template)
    const request = { words: [dir], flags: { debug: true }, stdin: Buffer.alloc(0), timeLimitMs: budget.timeMs }
    return renderQuickly(request, budget)
  }

  test('gives the answer', () => {
    const outcome = render('a: {{ .Release.Name }}\n')
    assert.ok(outcome !== 'too much' && 'answer' in outcome)
    assert.equal(outcome.answer.text, '---\n# Source: c/templates/a.yaml\na: release-name\n')
  })

  test("gives helm's error, with what was rendered before it", () => {
    const outcome = render('a: b: c\n')
    assert.ok(outcome !== 'too much' && 'error' in outcome)
    assert.match(outcome.error.message, /^YAML parse error on c\/templates\/a\.yaml/)
    assert.equal(outcome.text, '---\n# Source: c/templates/a.yaml\na: b: c\n')
  })

  test('leaves alone what takes longer, even if it is one call of a function', () => {
    const long = '{{ range until 1000000 }}{{ range until 100000 }}{{ end }}{{ end }}'
    assert.equal(render(long, { ...PLENTY, timeMs: 200 }), 'too much')
    const oneCall = '{{ until 1000000 | toYaml | fromYamlArray | len }}'
    assert.equal(render(oneCall, { ...PLENTY, timeMs: 200 }), 'too much')
    assert.notEqual(render('a: 1\n'), 'too much')
  })

  test('leaves alone what takes more memory', () => {
    const large = '{{ $all := list }}{{ range until 3000 }}{{ $all = append $all (until 100000) }}{{ end }}'
    assert.equal(render(large, { ...PLENTY, memoryMiB: 128 }), 'too much')
  })
})
