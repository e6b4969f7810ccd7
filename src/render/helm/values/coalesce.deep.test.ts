// Random charts with subcharts, aliases, conditions, tags, imports, globals and nulls, and random values over them:
// coalescing as in helm.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { compareOutputs } from '../../../testing/helm/compare.ts'
import type { Verdict } from '../../../testing/helm/compare.ts'
import { fuzzChart } from '../../../testing/helm/fuzz/fuzz-charts.ts'
import { renderLikeHelm } from '../../../testing/helm/render.ts'
import { findBinary } from '../../../testing/testenv.ts'

const CHARTS = Number(process.env['FUZZ_CHARTS'] ?? 1500)
const FIRST_SEED = Number(process.env['FUZZ_SEED'] ?? 1)
const AT_ONCE = 4
// With some values helm's output hangs on the order in which Go walks a map: one of its outputs has to be ours.
const ASKED_AT_MOST = 10

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  test(`${version}: random charts and values`, { skip: binary === undefined ? 'no helm' : false }, async () => {
    const different: string[] = []
    let next = FIRST_SEED
    const work = async (): Promise<void> => {
      for (let seed = next++; seed < FIRST_SEED + CHARTS; seed = next++) {
        const problem = await judge(seed, version, binary!)
        if (problem !== undefined) different.push(`seed ${seed}: ${problem}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    assert.deepEqual(different.slice(0, 10), [], `${different.length} differ`)
  })
}

async function judge(seed: number, version: 'helm3' | 'helm4', binary: string): Promise<string | undefined> {
  const { files, values, sets } = fuzzChart(seed)
  const dir = mkdtempSync(join(tmpdir(), 'helm-coalesce-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, 'c', name)), { recursive: true })
      writeFileSync(join(dir, 'c', name), text)
    }
    const names = values.map((text, at) => {
      writeFileSync(join(dir, `v${at}.yaml`), text)
      return join(dir, `v${at}.yaml`)
    })
    const args = [
      'template',
      'release-name',
      join(dir, 'c'),
      ...names.flatMap((name) => ['-f', name]),
      ...sets.flatMap((text) => ['--set', text]),
    ]
    const bytes = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]))
    const mine = renderLikeHelm(bytes, {
      version,
      files: names.map((name, at) => ({ name, data: new TextEncoder().encode(values[at]) })),
      set: sets,
    })
    let verdict: Verdict | undefined
    for (let asked = 0; asked < ASKED_AT_MOST; asked++) {
      const real = await runHelm(binary, args)
      verdict = compareOutputs(real, real, { ...mine, stdout: new TextDecoder().decode(mine.bytes) })
      if (verdict.kind === 'identical' || verdict.kind === 'error on both') return undefined
    }
    return `${verdict?.kind} ${verdict?.detail ?? ''}`
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function runHelm(binary: string, args: string[]): Promise<{ stdout: string; stderr: string; failed: boolean }> {
  return new Promise((resolve) => {
    execFile(binary, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, failed: error !== null })
    })
  })
}
