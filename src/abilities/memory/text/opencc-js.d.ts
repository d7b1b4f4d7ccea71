/** The package has types for whole converters only. */
declare module "opencc-js/dict/TSCharacters" {
  const characters: string;
  export default characters;
}
