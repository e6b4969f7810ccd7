// npm run build: one bundled file per binary, in dist/.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { root } from './tiers.ts'

rmSync(join(root, 'dist'), { recursive: true, force: true })
for (const { name, bytes } of await bundle('dist')) {
  process.stdout.write(`dist/${name}.mjs  ${Math.round(bytes / 1024)} KiB\n`)
}
