// Renews the generated parts of the docs: `npm run docs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { cliReference } from '../src/cli/program/docs-page.ts'
import { withArgoTables } from '../src/dialects/argo/docs-page.ts'
import { withFleetTables } from '../src/dialects/fleet/docs-page.ts'
import { withFluxTables } from '../src/dialects/flux/docs-page.ts'
import { withKarmadaTables } from '../src/dialects/karmada/docs-page.ts'
import { withWorkTables } from '../src/dialects/ocm/works/docs-page.ts'
import { withOcmTables } from '../src/dialects/ocm/docs-page.ts'
import { withMetricsTable } from '../src/hub/metrics/docs-page.ts'
import { conditionsPage } from '../src/kinds/condition-page.ts'
import { docsFileName, withGeneratedPart } from '../src/kinds/docs-page.ts'
import { NATIVE_KINDS } from '../src/kinds/native/native-kinds.ts'
import { lintPage } from '../src/plan/lint/docs-page.ts'
import { generatedChartFiles } from './charts/generated-parts.ts'

for (const kind of NATIVE_KINDS) {
  const file = join(import.meta.dirname, '../docs/kinds', docsFileName(kind))
  const page = readFileSync(file, 'utf8')
  const renewed = withGeneratedPart(page, kind)
  if (renewed !== page) {
    writeFileSync(file, renewed)
    process.stdout.write(`docs/kinds/${docsFileName(kind)} renewed\n`)
  }
}

for (const [name, renew] of [
  ['metrics.md', withMetricsTable],
  ['dialects/argo.md', withArgoTables],
  ['dialects/fleet.md', withFleetTables],
  ['dialects/flux.md', withFluxTables],
  ['dialects/karmada.md', withKarmadaTables],
  ['dialects/ocm-works.md', withWorkTables],
  ['dialects/ocm.md', withOcmTables],
] as const) {
  const file = join(import.meta.dirname, '../docs', name)
  const page = readFileSync(file, 'utf8')
  const renewed = renew(page)
  if (renewed === page) continue
  writeFileSync(file, renewed)
  process.stdout.write(`docs/${name} renewed\n`)
}

for (const [name, page] of [
  ['lint.md', lintPage()],
  ['reference/conditions.md', conditionsPage()],
] as const) {
  const file = join(import.meta.dirname, '../docs', name)
  if (existsSync(file) && readFileSync(file, 'utf8') === page) continue
  writeFileSync(file, page)
  process.stdout.write(`docs/${name} renewed\n`)
}

const cliFile = join(import.meta.dirname, '../docs/reference/cli.md')
if (!existsSync(cliFile) || readFileSync(cliFile, 'utf8') !== cliReference()) {
  writeFileSync(cliFile, cliReference())
  process.stdout.write('docs/reference/cli.md renewed\n')
}

for (const { path, text } of generatedChartFiles()) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  writeFileSync(path, text)
  process.stdout.write(`${relative(join(import.meta.dirname, '..'), path)} renewed\n`)
}
