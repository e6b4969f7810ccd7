/** A build that fails, in Flux's words. */
export class FluxBuildError extends Error {
  override readonly name = 'FluxBuildError'
}
