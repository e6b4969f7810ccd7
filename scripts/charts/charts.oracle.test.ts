/** The charts, as the real Helm 4 and Helm 3 render them: the same bytes as our own engine, or the same refusal. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { needBinary } from '../../src/testing/testenv.ts'
import { chartFolder, CHARTS, CHART_NAMESPACES, packageChart, renderOwnChart } from './chart-files.ts'
import type { ChartName } from './chart-files.ts'
import { AGENT_SETS, CONTRADICTIONS, HUB_SETS } from './chart-cases.ts'

const VERSIONS = { helm: 'helm4', helm3: 'helm3' } as const

function template(binary: keyof typeof VERSIONS, chart: string, name: ChartName, set: readonly string[]) {
  const args = ['template', 'flotilla', chart, '--namespace', CHART_NAMESPACES[name]]
  return spawnSync(needBinary(binary), [...args, ...set.flatMap((text) => ['--set', text])], { encoding: 'utf8' })
}

for (const [binary, version] of Object.entries(VERSIONS) as [keyof typeof VERSIONS, 'helm3' | 'helm4'][]) {
  test(`${binary} renders the charts as our engine does`, () => {
    for (const name of CHARTS) {
      for (const [title, set] of Object.entries(name === 'flotilla-hub' ? HUB_SETS : AGENT_SETS)) {
        const { stdout, stderr, status } = template(binary, chartFolder(name), name, set)
        assert.equal(status, 0, stderr)
        assert.equal(renderOwnChart(name, { set }, { version }), stdout, `${name} ${title}`)
      }
    }
  })

  test(`${binary} refuses the same values`, () => {
    for (const { chart, set, message } of CONTRADICTIONS) {
      const { status, stderr } = template(binary, chartFolder(chart), chart, set)
      assert.equal(status, 1, `${chart} ${set.join(' ')}`)
      assert.match(stderr, message)
    }
  })

  test(`${binary} renders the packages as the folders, and finds nothing wrong with them`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'flotilla-charts-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    for (const name of CHARTS) {
      const set = (name === 'flotilla-hub' ? HUB_SETS : AGENT_SETS).least!
      const { file, bytes } = packageChart(name)
      writeFileSync(join(folder, file), bytes)
      const packed = template(binary, join(folder, file), name, set)
      assert.equal(packed.stdout, template(binary, chartFolder(name), name, set).stdout)
      const values = ['--namespace', CHART_NAMESPACES[name], ...set.flatMap((text) => ['--set', text])]
      const linted = spawnSync(needBinary(binary), ['lint', '--strict', join(folder, file), ...values], {
        encoding: 'utf8',
      })
      assert.equal(linted.status, 0, linted.stdout + linted.stderr)
    }
  })
}
