// Every function and the known traps, judged by both real helms in one process each; failing templates one by one.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { compareOutputs } from '../../../testing/helm/compare.ts'
import { FAILING } from '../../../testing/helm/failing-cases.ts'
import { CASES as FUNCTION_CASES, CASE_VALUES } from '../../../testing/helm/function-cases.ts'
import { renderLikeHelm } from '../../../testing/helm/render.ts'
import { TOML_CASES } from '../../../testing/helm/toml-cases.ts'
import { findBinary } from '../../../testing/testenv.ts'
import { RandomDraws } from '../frozen-random.ts'
import { helmFunctions } from './helm-functions.ts'
import { profileOf } from '../profile.ts'
import type { HelmVersion } from '../profile.ts'

const CASES = [...FUNCTION_CASES, ...TOML_CASES]

const CHART: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: cases\nversion: 1.0.0\nappVersion: "2"\n',
  'values.yaml': CASE_VALUES,
  'files/a.txt': 'one\ntwo\n',
  'templates/_given.tpl':
    '{{ define "given" }}got {{ .x }}{{ end }}\n{{ define "broken" }}{{ .Values.a.b }}{{ end }}\n',
}

function bytesOf(files: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  return new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]))
}

async function helm(binary: string, files: Readonly<Record<string, string>>) {
  const dir = mkdtempSync(join(tmpdir(), 'helm-cases-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
    }
    return await new Promise<{ stdout: string; stderr: string; failed: boolean }>((resolve) => {
      execFile(binary, ['template', 'release-name', dir], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ stdout, stderr, failed: error !== null })
      })
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function ours(version: HelmVersion, files: Readonly<Record<string, string>>) {
  const result = renderLikeHelm(bytesOf(files), { version })
  return { ...result, stdout: new TextDecoder().decode(result.bytes) }
}

const BINARIES = { helm4: 'helm', helm3: 'helm3' } as const

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(BINARIES[version])
  const skip = binary === undefined ? `no ${BINARIES[version]} on this machine` : false

  test(`${version}: every expression prints the same`, { skip }, async () => {
    const cases = CASES.map((expression, at) => `k${at}: {{ printf "%v" (${expression}) | quote }}\n`)
    const files = { ...CHART, 'templates/cases.yaml': cases.join('') }
    const real = await helm(binary!, files)
    assert.equal(real.failed, false, real.stderr)
    const mine = ours(version, files)
    assert.equal(mine.failed, false, mine.stderr)
    const [wanted, got] = [real.stdout.split('\n'), mine.stdout.split('\n')]
    const different = CASES.flatMap((expression, at) => {
      const [a, b] = [wanted, got].map((lines) => lines.find((line) => line.startsWith(`k${at}: `)))
      return a === b ? [] : [`${expression}\n  helm ${a}\n  ours ${b}`]
    })
    assert.deepEqual(different, [])
    assert.equal(mine.stdout, real.stdout)
  })

  test(`${version}: what fails, fails with the same words`, { skip }, async () => {
    const different: string[] = []
    for (const text of FAILING) {
      const files = { ...CHART, 'templates/fails.yaml': `# first line\n${text}\n` }
      const verdict = compareOutputs(
        await helm(binary!, files),
        { stdout: '', stderr: '', failed: true },
        ours(version, files),
      )
      if (verdict.kind !== 'error on both') different.push(`${text}: ${verdict.kind}\n${verdict.detail ?? ''}`)
    }
    assert.deepEqual(different, [])
  })
}

test('the expressions name every function', () => {
  const none = () => new Uint8Array()
  const draws = new RandomDraws({ randomBytes: none, now: () => 0, generateKey: () => '' })
  const names = [...helmFunctions({ profile: profileOf('helm3'), draws, lookUp: () => undefined }).keys()]
  const text = [...CASES, ...FAILING].join('\n')
  assert.deepEqual(
    names.filter((name) => !new RegExp(`(^|[^\\w.])${name}([^\\w]|$)`, 'm').test(text)),
    [],
  )
})
