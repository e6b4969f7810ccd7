// Hundreds of thousands of random expressions, a few thousand per helm process, none of them different.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fuzzCases } from '../../../testing/helm/fuzz/fuzz-cases.ts'
import { renderLikeHelm } from '../../../testing/helm/render.ts'
import { findBinary } from '../../../testing/testenv.ts'

const PER_CHART = 4000
const CHARTS = Number(process.env['FUZZ_CHARTS'] ?? 30)
const FIRST_SEED = Number(process.env['FUZZ_SEED'] ?? 1)

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  test(`${version}: random expressions`, { skip: binary === undefined ? 'no helm' : false }, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + CHARTS; seed++) {
      const cases = fuzzCases(seed, PER_CHART)
      // In comments, so that nothing of it is read again as YAML.
      const template = cases.map((one, at) => `# k${at}: {{ printf "%v" (${one}) | quote }}\n`).join('')
      const files = {
        'Chart.yaml': 'apiVersion: v2\nname: fuzz\nversion: 1.0.0\n',
        'templates/f.yaml': `a: 1\n${template}`,
      }
      const dir = mkdtempSync(join(tmpdir(), 'helm-fuzz-'))
      mkdirSync(join(dir, 'templates'))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
      const real = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
        execFile(binary!, ['template', 'release-name', dir], { maxBuffer: 1 << 27 }, (_error, stdout, stderr) => {
          resolve({ stdout, stderr })
        })
      })
      rmSync(dir, { recursive: true, force: true })
      assert.notEqual(real.stdout, '', `seed ${seed}: ${real.stderr}`)
      const tree = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]))
      const mine = renderLikeHelm(tree, { version })
      const got = new TextDecoder().decode(mine.bytes).split('\n')
      assert.equal(mine.failed, false, mine.stderr)
      const wanted = real.stdout.split('\n')
      const different = wanted.flatMap((line, at) => {
        if (line === got[at]) return []
        return [`${cases[Number(/^# k(\d+)/.exec(line)?.[1] ?? -1)] ?? ''}\n  helm ${line}\n  ours ${got[at]}`]
      })
      assert.deepEqual(different.slice(0, 40), [], `seed ${seed}: ${different.length} differ`)
    }
  })
}
