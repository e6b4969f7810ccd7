// Templates that call any function with any arguments, one helm process each: the same bytes, or the same error.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { compareOutputs } from '../../../testing/helm/compare.ts'
import type { RunOutput } from '../../../testing/helm/compare.ts'
import { renderLikeHelm } from '../../../testing/helm/render.ts'
import { SHAPE_CHART, shapeCases } from '../../../testing/helm/fuzz/shape-cases.ts'
import { findBinary } from '../../../testing/testenv.ts'
import { RandomDraws } from '../frozen-random.ts'
import { helmFunctions } from './helm-functions.ts'
import { profileOf } from '../profile.ts'

const COUNT = Number(process.env['FUZZ_SHAPES'] ?? 1000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)

const draws = new RandomDraws({ randomBytes: () => new Uint8Array(), now: () => 0, generateKey: () => '' })

/** Where things are in memory is another place each time. */
const withoutAddresses = (text: string) => text.replaceAll(/0x[0-9a-f]{6,}/g, 'ADDRESS')

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  test(`${version}: any function with any arguments`, { skip: binary === undefined ? 'no helm' : false }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'helm-shapes-'))
    for (const [name, text] of Object.entries(SHAPE_CHART)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true })
      writeFileSync(join(dir, name), text)
    }
    const helm = async () =>
      await new Promise<RunOutput>((resolve) => {
        execFile(binary!, ['template', 'release-name', dir], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
          resolve({ stdout: withoutAddresses(stdout), stderr, failed: error !== null })
        })
      })
    const functions = helmFunctions({ profile: profileOf(version), draws, lookUp: () => undefined })
    const different: string[] = []
    for (const text of shapeCases(SEED, COUNT, functions)) {
      // In a comment and quoted, so that nothing of it is read again as YAML.
      const shape = `{{ define "shape" }}${text}{{ end }}a: 1\n# {{ include "shape" . | quote }}\n`
      const files = { ...SHAPE_CHART, 'templates/shape.yaml': shape }
      writeFileSync(join(dir, 'templates/shape.yaml'), shape)
      const tree = new Map(Object.entries(files).map(([name, data]) => [name, new TextEncoder().encode(data)]))
      const mine = renderLikeHelm(tree, { version })
      const stdout = withoutAddresses(new TextDecoder().decode(mine.bytes))
      const real = await helm()
      const verdict = compareOutputs(real, real, { ...mine, stdout })
      if (!['identical', 'error on both'].includes(verdict.kind)) different.push(`${text}\n${verdict.detail ?? ''}`)
    }
    rmSync(dir, { recursive: true, force: true })
    assert.deepEqual(different, [])
  })
}
