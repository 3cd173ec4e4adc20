# cmake -DSOURCE=folder -DTARGET=folder -P npm_install.cmake
# Installs what SOURCE/package-lock.json names into TARGET/node_modules. When that is what is there,
# nothing happens and no network is touched.
file(MAKE_DIRECTORY ${TARGET})
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${TARGET})
file(SHA256 ${SOURCE}/package-lock.json wanted)
set(stamp ${TARGET}/node_modules/.installed)
set(installed "")
if(EXISTS ${stamp})
  file(READ ${stamp} installed)
endif()
if(installed STREQUAL wanted)
  return()
endif()
execute_process(
  COMMAND npm ci --no-audit --no-fund --ignore-scripts
  WORKING_DIRECTORY ${TARGET}
  COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${stamp} ${wanted})
