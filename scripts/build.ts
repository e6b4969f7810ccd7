// npm run build: one bundled file per binary and the console's page, in dist/, the CLI as an executable that has all of it in itself,
// the charts as packages and plain manifests, and the units of systemd.
import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { bundle } from './bundle.ts'
import { writeCharts } from './charts/chart-files.ts'
import { buildConsole, CONSOLE_DIST } from './console-workspace.ts'
import { makeExecutable } from './executable.ts'
import { root } from './tiers.ts'

const dist = join(root, 'dist')
rmSync(dist, { recursive: true, force: true })
for (const { name, bytes } of await bundle('dist')) {
  process.stdout.write(`dist/${name}.mjs  ${Math.round(bytes / 1024)} KiB\n`)
}
await buildConsole()
cpSync(CONSOLE_DIST, join(dist, 'console'), { recursive: true })
// Elsewhere it would have to be signed before it runs.
if (process.platform === 'linux') {
  const { bytes } = await makeExecutable(dist)
  process.stdout.write(`dist/flotilla  ${Math.round(bytes / 1024)} KiB\n`)
}
cpSync(join(root, 'packaging/systemd'), join(dist, 'systemd'), { recursive: true })
for (const path of writeCharts(dist)) process.stdout.write(`${relative(root, path)}\n`)
