// Tested by scripts/images/images.contract.test.ts.
// npm run images: OCI images of hub, agent and CLI in dist/images, without a container runtime; pushes them on demand.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '../src/core/version.ts'
import { endChildrenWithScript } from './child.ts'
import { ARCHITECTURES } from './images/downloads.ts'
import type { Architecture } from './images/downloads.ts'
import { makeProgram } from './images/program.ts'
import { buildImages, IMAGES } from './images/recipes.ts'
import type { ImageName } from './images/recipes.ts'
import { pushLayout } from './images/registry.ts'
import { readSigningKey } from './images/signature.ts'
import { root } from './tiers.ts'

const USAGE = `usage: npm run images -- [options]
  --out DIR          folder of the OCI layout (default dist/images)
  --only NAMES       images to build: ${IMAGES.join(', ')} (default all)
  --platform LIST    processors: ${ARCHITECTURES.join(', ')} (default all)
  --tag TAG          tag of the images (default ${VERSION})
  --sign-key FILE    private key in PEM (ECDSA P-256, RSA or Ed25519) that signs the images
  --push REGISTRY    registry and path, for example registry.example.com/platform
  --plain-http       push without TLS
  --no-build         push the layout that is in the folder
`

endChildrenWithScript()
try {
  await main(process.argv.slice(2))
} catch (caught) {
  process.stderr.write(`error: ${(caught as Error).message}\n`)
  process.exitCode = 1
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: join(root, 'dist/images') },
      only: { type: 'string', default: IMAGES.join(',') },
      platform: { type: 'string', default: ARCHITECTURES.join(',') },
      tag: { type: 'string', default: VERSION },
      'sign-key': { type: 'string' },
      push: { type: 'string' },
      'plain-http': { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(USAGE)
  const folder = resolve(values.out)
  if (!values['no-build']) {
    const images = chosen(values.only, IMAGES, '--only')
    const architectures = chosen(values.platform.replaceAll('linux/', ''), ARCHITECTURES, '--platform')
    const keyFile = values['sign-key']
    const key = keyFile === undefined ? undefined : readSigningKey(keyFile)
    const program = await makeProgram()
    try {
      for (const { name, digest, sizes } of await buildImages(folder, {
        images,
        architectures,
        tag: values.tag,
        program,
        key,
      })) {
        const size = Object.entries(sizes).map(([platform, bytes]) => `${platform} ${(bytes / 1e6).toFixed(1)} MB`)
        process.stdout.write(`${name}:${values.tag}  ${digest}  ${size.join(', ')}\n`)
      }
    } finally {
      program.remove()
    }
    process.stdout.write(`${folder}\n`)
  }
  if (values.push === undefined) return
  const credentials = process.env['FLOTILLA_REGISTRY_CREDENTIALS']
  const options = { target: values.push, isPlain: values['plain-http'], ...(credentials && { credentials }) }
  for (const reference of await pushLayout(folder, options)) process.stdout.write(`pushed ${reference}\n`)
}

function chosen<T extends ImageName | Architecture>(text: string, all: readonly T[], option: string): T[] {
  const names = text.split(',')
  const unknown = names.find((name) => !(all as readonly string[]).includes(name))
  if (unknown !== undefined) {
    throw new Error(`${option}: unknown name ${JSON.stringify(unknown)}; valid names: ${all.join(', ')}`)
  }
  return all.filter((name) => names.includes(name))
}
